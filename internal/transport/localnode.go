package transport

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/protocol"
)

type localNode struct {
	cfg           Config
	log           *zap.Logger
	addr          string // advertised
	incarnation   atomic.Uint64
	authenticator *authenticator // nil for none
	types         seenSet
	reverseConns  *reverseConns
	met           func(remote.NodeID, agreement) // is called after each handshake
	peers         metPeers
	skipped       protocol.Skipped
	received      channelTraffic
	lost          atomic.Uint64 // messages that could not be decoded
	reachPanicked atomic.Bool   // Config.ClientsReach has, which is logged once

	tasks   sync.WaitGroup // except those of links
	closing chan struct{}  // closed by Close, when links have finished
}

func (n *localNode) self() remote.NodeID {
	return remote.NodeID{Address: n.addr, Incarnation: n.incarnation.Load()}
}

func (n *localNode) hello() hello {
	mine, user := n.cfg.versions, n.cfg.Protocol
	return hello{
		Min: mine.Min, Max: mine.Max, Features: ownFeatures,
		UserMin: user.Min, UserMax: user.Max, UserFeatures: protocol.Features(user.Features),
		Cluster: n.cfg.Cluster, Addr: n.addr, Incarnation: n.incarnation.Load(),
	}
}

// With TLS, the peer is authenticated then.
func (n *localNode) dial(ctx context.Context, addr string) (net.Conn, error) {
	if isOutbound(addr) {
		return n.reverseConns.take(ctx, addr)
	}
	conn, err := n.cfg.Network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	conn = nonBlocking(asSocket(conn))
	if n.authenticator == nil {
		return conn, nil
	}
	secure, err := n.authenticator.dialed(ctx, conn, addr)
	if err != nil {
		discard(conn)
		return nil, err
	}
	return secure, nil
}

func (n *localNode) authenticate(conn net.Conn, l channel, h hello) (agreement, error) {
	if isOutbound(h.Addr) {
		if l == channelControl || l == channelStream {
			return agreement{}, refuse(remote.RefusedMember, "%s is no node", h.Addr)
		}
	} else if n.authenticator != nil {
		if err := n.authenticator.identify(conn, h.Addr); err != nil {
			return agreement{}, refuse(remote.RefusedIdentity, "your certificate is not for the address that you advertise: %v", err)
		}
	}
	if h.Cluster != n.cfg.Cluster {
		return agreement{}, refuse(remote.RefusedCluster, "its cluster is %q, not %q; set Config.Name to the same on all nodes of one cluster", n.cfg.Cluster, h.Cluster)
	}
	return n.agree(h)
}

func (n *localNode) validate(conn net.Conn, l channel, h hello) (agreement, error) {
	with, err := n.authenticate(conn, l, h)
	if err != nil {
		return agreement{}, err
	}
	if mine := n.incarnation.Load(); h.Want != 0 && h.Want != mine {
		return agreement{}, refuse(remote.RefusedIncarnation, "incarnation %d is gone, it is %d now", h.Want, mine)
	}
	if err := n.admit(h.peer(), l); err != nil {
		return agreement{}, refuse(remote.RefusedMember, "%v", err)
	}
	return with, nil
}

func (n *localNode) admit(p remote.NodeID, l channel) error {
	if err := n.cfg.Admit(p); err != nil || l != channelUser {
		return err
	}
	return n.cfg.AdmitMessages(p)
}

// Clients do not reach it if the function panics.
func (n *localNode) reaches(reach func(string) bool, path string) bool {
	allowed, err := guard.Value(func() bool { return reach(path) })
	if err != nil && n.reachPanicked.CompareAndSwap(false, true) {
		n.log.Error("Config.ClientsReach has panicked: the message is refused; later panics are not logged", zap.String("path", path), zap.Error(err))
	}
	return allowed
}

// If nodes prove their identity, only the node that advertises the address of a channel of users'
// messages is accepted there.
func (n *localNode) strict(to linkKey) bool {
	return n.authenticator != nil && to.channel == channelUser
}

// sendRefusal returns the refusal, joined with the error of sending.
func (n *localNode) sendRefusal(conn net.Conn, reason error) error {
	no, ok := errors.AsType[*refusal](reason)
	if !ok {
		return reason
	}
	a := answer{Incarnation: n.incarnation.Load(), Refusal: no.reason, Detail: no.detail}
	if no.reason == remote.RefusedIncarnation {
		a.Addr = n.addr
	}
	if err := n.sendAnswer(conn, a); err != nil {
		return errors.Join(reason, err)
	}
	return reason
}

// The first time it is a warning, which says what to do.
func (n *localNode) logType(name, problem string, err error) {
	level := zap.DebugLevel
	if n.types.first(name) {
		level = zap.WarnLevel
	}
	n.log.WithOptions(zap.AddCallerSkip(1)).Log(level, problem, zap.String("type", name), zap.Error(err))
}

type seenSet struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

// Names come from the network. A full set reports nothing as first.
const maxSeen = 1000

func (f *seenSet) first(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[name] || len(f.seen) == maxSeen {
		return false
	}
	f.seen[name] = true
	return true
}
