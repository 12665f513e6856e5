package remote

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/remote/internal/deathwatch"
)

// An Endpoint connects one node to the network. Make one with [Listen]. Its methods may be called
// by any goroutine.
type Endpoint struct {
	cfg     Config
	log     *zap.Logger
	addr    string // advertised
	cluster uint64 // hash of its name

	listener net.Listener   // nil with Config.Outbound
	packets  net.PacketConn // likewise
	streams  chan net.Conn
	gossip   chan Packet

	incarnation     atomic.Uint64
	session         atomic.Uint64  // the last one that was begun
	authenticator   *authenticator // nil for none
	unauthenticated unauthenticated
	warnings        rateLimit // about strangers
	sealers         sealers
	openers         openers
	links           links
	sessions        sessions
	conns           conns
	types           seenSet
	reverseConns    *reverseConns
	reverseDialer   *reverseDialer

	system  atomic.Pointer[actor.System]
	watcher atomic.Pointer[deathwatch.Watcher] // set by Serve
	serving chan struct{}                      // closed by Serve

	tasks   sync.WaitGroup // all goroutines but those of links
	closing chan struct{}  // closed by Close, when links have finished
	shut    func() error   // once
}

var _ extension.Transport = (*Endpoint)(nil)

// gossipQueue is how many memberlist packets wait to be taken.
const gossipQueue = 256

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
		return nil, fmt.Errorf("remote: Config.Bind: listen at %s: %w", cfg.Bind, err)
	}
	addr, err := cfg.advertised(listener.Addr())
	if err != nil {
		return nil, errors.Join(err, listener.Close(), packets.Close())
	}
	e := newEndpoint(cfg, authenticator, addr)
	e.listener, e.packets = listener, packets
	e.tasks.Go(e.acceptAll)
	e.tasks.Go(e.readPackets)
	return e, nil
}

// newEndpoint returns an endpoint without sockets.
func newEndpoint(cfg Config, authenticator *authenticator, addr string) *Endpoint {
	e := &Endpoint{
		cfg:             cfg,
		log:             cfg.Logger.With(zap.String("node", addr)),
		addr:            addr,
		cluster:         clusterHash(cfg.Cluster),
		streams:         make(chan net.Conn),
		gossip:          make(chan Packet, gossipQueue),
		authenticator:   authenticator,
		unauthenticated: unauthenticated{max: cfg.MaxUnauthenticated, maxPerHost: cfg.MaxUnauthenticatedPerHost},
		sealers:         sealers{to: map[string]*sealer{}},
		openers:         openers{byNumber: map[uint64]*opener{}, byAddr: map[string][]*opener{}},
		links:           links{all: map[linkKey]*link{}},
		sessions:        sessions{last: map[linkKey]*inbound{}, patience: 2 * cfg.UnreachableAfter},
		conns:           conns{open: map[net.Conn]struct{}{}},
		types:           seenSet{seen: map[string]bool{}},
		reverseConns:    newReverseConns(),
		reverseDialer:   newReverseDialer(),
		serving:         make(chan struct{}),
		closing:         make(chan struct{}),
	}
	e.shut = once(e.shutDown)
	e.incarnation.Store(cfg.Incarnation)
	return e
}

// bindAttempts is how many ports bind tries to find one that is free for both protocols.
const bindAttempts = 50

// bind opens TCP and UDP at the same port.
func bind(n Network, addr string) (net.Listener, net.PacketConn, error) {
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
func (e *Endpoint) Self() NodeID { return NodeID{Address: e.addr, Incarnation: e.incarnation.Load()} }

// Serve delivers the messages of peers to s from now on. It must be called only once, and panics
// if it is called again.
func (e *Endpoint) Serve(s *actor.System) {
	if !e.system.CompareAndSwap(nil, s) {
		panic("remote: Serve was called before")
	}
	e.watchFor(s)
	close(e.serving)
}

// Rename gives this node a new incarnation. All connections end, and peers see another node when
// they connect again. Messages that were sent and not acknowledged become dead letters; messages
// not sent yet are sent under the new incarnation. The upper 32 bits should stay, or peers do not
// know that the actors are the same.
func (e *Endpoint) Rename(to uint64) {
	e.incarnation.Store(to)
	e.hangUp(func(NodeID) bool { return true })
	for _, l := range e.links.to("") {
		l.hangUp(0)
	}
}

// Forget ends all connections with the incarnation p, which is gone for good. What waits for it
// becomes dead letters with [actor.ErrUnreachable]. Later messages to the address go to the
// incarnation that is there then.
func (e *Endpoint) Forget(p NodeID) {
	e.hangUp(func(from NodeID) bool { return from == p })
	for _, l := range e.links.to(p.Address) {
		if l.isWith(p.Incarnation) {
			l.close(errForgotten)
		}
	}
}

// errForgotten is the reason of dead letters to a forgotten peer.
var errForgotten = errors.New("the node has left")

// hangUp closes the connections that matching peers opened, and forgets the keys shared with them.
func (e *Endpoint) hangUp(which func(NodeID) bool) {
	e.sessions.hangUp(which)
	e.openers.drop(which)
	e.sealers.drop(which)
}

// met closes the connections with all other incarnations of a peer after a handshake with p.
func (e *Endpoint) met(p NodeID) {
	e.hangUp(func(from NodeID) bool { return from.Address == p.Address && from.Incarnation != p.Incarnation })
	for _, l := range e.links.to(p.Address) {
		l.hangUp(p.Incarnation)
	}
	e.reverseDialer.met(p)
	if w := e.watcher.Load(); w != nil {
		w.Met(p)
	}
}

// Close closes the endpoint. It waits up to [Config.Linger] for connected peers to acknowledge the
// messages that were sent; all others become dead letters. When Close returns, all goroutines of
// the endpoint have ended. Further calls wait for the first one and return its result.
func (e *Endpoint) Close() error { return e.shut() }

// once returns a function that calls f the first time and always waits for the result. It waits on
// a channel, because waiting in a sync.Once would stop the time of a synctest bubble.
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
	e.links.finish(time.Now().Add(e.cfg.Linger))
	close(e.closing)
	e.reverseDialer.end()
	var err error
	if !e.cfg.Outbound {
		err = errors.Join(e.listener.Close(), e.packets.Close())
	}
	e.conns.close()
	e.tasks.Wait()
	e.sessions.close()
	return err
}
