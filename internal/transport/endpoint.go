package transport

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/transport/deathwatch"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/remote"
)

// An Endpoint connects one node to the network. Make one with [Listen]. Its methods may be called
// by any goroutine.
type Endpoint struct {
	localNode
	acceptor      acceptor
	links         links
	packets       packets
	reverseDialer *reverseDialer
	watcher       atomic.Pointer[deathwatch.Watcher] // set by Serve
	unmeasured    atomic.Pointer[func()]             // ends the metrics; set by Serve
	members       atomic.Pointer[map[string]uint64]  // the incarnation at each address; set by Members
	shut          func() error
}

var _ extension.Transport = (*Endpoint)(nil)

// Listen opens an endpoint. Peers can connect at once; their messages to actors wait for
// [Endpoint.Serve]. With [Config.Outbound] the endpoint does not listen: see [Endpoint.Reach].
// Listen fails if cfg is invalid or the port is taken.
func Listen(cfg Config) (*Endpoint, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Outbound {
		return listenNowhere(cfg)
	}
	authenticator, err := newAuthenticator(cfg)
	if err != nil {
		return nil, err
	}
	listener, packets, err := bind(cfg.Network, cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("remote: Config.Bind: listen at %s: %w%s", cfg.Bind, err, adviceOnBind(err))
	}
	addr, err := cfg.advertised(listener.Addr())
	if err != nil {
		return nil, errors.Join(err, listener.Close(), packets.Close())
	}
	e := newEndpoint(cfg, authenticator, addr)
	e.acceptor.listener, e.packets.socket = listener, packets
	e.tasks.Go(e.acceptor.acceptAll)
	e.tasks.Go(e.packets.readAll)
	return e, nil
}

// The endpoint has no sockets yet.
func newEndpoint(cfg Config, authenticator *authenticator, addr string) *Endpoint {
	e := &Endpoint{localNode: localNode{
		cfg:           cfg,
		log:           cfg.Logger.With(zap.String("address", addr)),
		addr:          addr,
		authenticator: authenticator,
		types:         seenSet{seen: map[string]bool{}},
		reverseConns:  &reverseConns{waiting: map[string][]*reverseConn{}, arrival: make(chan struct{})},
		closing:       make(chan struct{}),
	}}
	e.incarnation.Store(cfg.Incarnation)
	e.met = e.meet
	n := &e.localNode
	e.packets = packets{
		localNode: n,
		cluster:   clusterHash(cfg.Cluster),
		gossip:    make(chan Packet, gossipQueue),
		sealers:   sealers{to: map[string]*sealer{}},
		openers:   openers{versions: cfg.versions, byNumber: map[uint64]*opener{}, byAddr: map[string][]*opener{}},

		openControl:  e.links.openControl,
		renewControl: e.links.renewControl,
	}
	e.links = links{localNode: n, sealers: &e.packets.sealers, all: map[linkKey]*link{}, ended: map[channel]outbox.Counts{}}
	e.acceptor = acceptor{
		localNode:       n,
		unauthenticated: unauthenticated{max: cfg.MaxUnauthenticated, maxPerHost: cfg.MaxUnauthenticatedPerHost},
		conns:           conns{open: map[net.Conn]struct{}{}},
		sessions:        sessions{last: map[linkKey]*inbound{}, patience: 2 * cfg.UnreachableAfter},
		openers:         &e.packets.openers,
		streams:         make(chan net.Conn),
		serving:         make(chan struct{}),
		replaced:        e.distrust,
	}
	e.reverseDialer = newReverseDialer(n, &e.acceptor)
	e.shut = once(e.shutDown)
	return e
}

func adviceOnBind(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "; stop the process that has the port, which may be an earlier run of this program, or bind another port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; bind an address of this machine, and set Config.Advertise to the one at which others reach it"
	}
	return ""
}

// How many ports bind tries to find one that is free for both protocols.
const bindAttempts = 50

// TCP and UDP have the same port.
func bind(n remote.Network, addr string) (net.Listener, net.PacketConn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, err
	}
	for attempt := 1; ; attempt++ {
		listener, err := n.Listen(addr)
		if err != nil {
			return nil, nil, err
		}
		_, bound, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, nil, errors.Join(err, listener.Close())
		}
		packets, err := n.ListenPacket(net.JoinHostPort(host, bound))
		if err == nil {
			return listener, packets, nil
		}
		if err := errors.Join(err, listener.Close()); port != "0" || attempt == bindAttempts {
			return nil, nil, err
		}
	}
}

// Addr returns the host:port under which others reach the endpoint.
func (e *Endpoint) Addr() string { return e.addr }

// MaxMessage returns [Config.MaxMessage], for [actor.System.MaxMessage].
func (e *Endpoint) MaxMessage() int { return e.cfg.MaxMessage }

// FirstUID implements [extension.Transport]. It returns the number from which the actors of the
// system count.
func (e *Endpoint) FirstUID() uint64 { return node.FirstActor(e.cfg.Incarnation) }

// Self returns the identity under which peers know the endpoint.
func (e *Endpoint) Self() remote.NodeID { return e.self() }

// Outbound returns the addresses of the connected endpoints that have [Config.Outbound].
func (e *Endpoint) Outbound() []string {
	all := e.reverseConns.addresses()
	for _, l := range e.links.to("") {
		if isOutbound(l.key.addr) {
			all = append(all, l.key.addr)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Serve delivers the messages of peers to s from now on. It must be called only once, and panics
// if it is called again.
func (e *Endpoint) Serve(s *actor.System) {
	if !e.acceptor.system.CompareAndSwap(nil, s) {
		panic("remote: Serve was called before")
	}
	e.watcher.Store(deathwatch.Start(s, e.self))
	remove := telemetry.AddSource(s, e.families)
	e.unmeasured.Store(&remove)
	status.AddSection(s, status.Section{Level: status.Connections, Read: e.section})
	close(e.acceptor.serving)
}

// Rename gives this node a new incarnation. All connections end, and peers see another node when
// they connect again. Messages that were sent and not acknowledged become dead letters; messages
// not sent yet are sent under the new incarnation. The upper 32 bits should stay, or peers do not
// know that the actors are the same.
func (e *Endpoint) Rename(to uint64) {
	e.incarnation.Store(to)
	e.hangUp(func(remote.NodeID) bool { return true })
	for _, l := range e.links.to("") {
		l.hangUp(0)
	}
}

// The client has replaced a lost connection of its own, so those over which this node sends to it
// may be lost as well. Without this, the next message to the client would find that out, and wait
// for it.
func (e *Endpoint) distrust(addr string) {
	if !isOutbound(addr) {
		return
	}
	for _, l := range e.links.to(addr) {
		l.hangUp(0)
	}
}

// hangUp also forgets the keys that are shared with the peers.
func (e *Endpoint) hangUp(which func(remote.NodeID) bool) {
	e.acceptor.sessions.hangUp(which)
	e.packets.openers.drop(which)
	e.packets.sealers.drop(which)
}

func (e *Endpoint) meet(p remote.NodeID, with agreement) {
	e.peers.keep(p, with)
	e.replace(p)
}

// There has been a handshake with p, which is one incarnation of the peer.
func (e *Endpoint) replace(p remote.NodeID) {
	e.hangUp(func(from remote.NodeID) bool { return from.Address == p.Address && from.Incarnation != p.Incarnation })
	for _, l := range e.links.to(p.Address) {
		l.hangUp(p.Incarnation)
	}
	e.reverseDialer.replace(p)
	if w := e.watcher.Load(); w != nil {
		w.Met(p)
	}
}

// Close closes the endpoint. It acknowledges the messages that have arrived. It waits up to
// [Config.Linger] for connected peers to acknowledge the messages that were sent; all others become
// dead letters. When Close returns, all goroutines of the endpoint have ended. Further calls wait
// for the first one and return its result.
func (e *Endpoint) Close() error { return e.shut() }

// Every call waits for the result of the first. It waits on a channel, because waiting in a
// sync.Once would stop the time of a synctest bubble.
func once(f func() error) func() error {
	var begin sync.Once
	var err error
	done := make(chan struct{})
	return func() error {
		begin.Do(func() {
			go func() {
				defer close(done)
				err = f()
			}()
		})
		<-done
		return err
	}
}

func (e *Endpoint) shutDown() error {
	// What has arrived until now is acknowledged, and handled before the links finish: if it is a
	// dead letter, the refusal to its ask still leaves. What comes later is not acknowledged, so it
	// is a dead letter of its sender.
	e.acceptor.sessions.dismiss()
	e.links.finish(time.Now().Add(e.cfg.Linger))
	close(e.closing)
	e.reverseDialer.end()
	var err error
	if !e.cfg.Outbound {
		err = errors.Join(e.acceptor.listener.Close(), e.packets.socket.Close())
	}
	e.acceptor.conns.close()
	e.tasks.Wait()
	e.acceptor.sessions.close()
	if remove := e.unmeasured.Load(); remove != nil {
		(*remove)()
	}
	return err
}
