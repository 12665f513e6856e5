package remote

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/protocol"
)

// A localNode is what the parts of an endpoint share: its configuration, its identity, and this
// side of handshakes.
type localNode struct {
	cfg           Config
	log           *zap.Logger
	addr          string // advertised
	incarnation   atomic.Uint64
	authenticator *authenticator // nil for none
	types         seenSet
	reverseConns  *reverseConns
	met           func(NodeID, agreement) // is called after each handshake
	peers         peers
	skipped       protocol.Skipped
	received      channelTraffic
	lost          atomic.Uint64 // messages that could not be decoded
	reachPanicked atomic.Bool   // Config.ClientsReach has, which is logged once

	tasks   sync.WaitGroup // all goroutines but those of links
	closing chan struct{}  // closed by Close, when links have finished
}

// self returns the identity under which peers know this node.
func (n *localNode) self() NodeID {
	return NodeID{Address: n.addr, Incarnation: n.incarnation.Load()}
}

// hello returns the hello of this node, outside a session.
func (n *localNode) hello() hello {
	mine, user := n.cfg.versions, n.cfg.Protocol
	return hello{
		Min: mine.Min, Max: mine.Max, Features: ownFeatures,
		UserMin: user.Min, UserMax: user.Max, UserFeatures: protocol.Features(user.Features),
		Cluster: n.cfg.Cluster, Addr: n.addr, Incarnation: n.incarnation.Load(),
	}
}

// dial connects to the endpoint at addr. With TLS, the peer is authenticated then.
func (n *localNode) dial(ctx context.Context, addr string) (net.Conn, error) {
	if isOutbound(addr) {
		return n.reverseConns.take(ctx, addr)
	}
	conn, err := n.cfg.Network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	conn = nonBlocking(conn)
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

// authenticate checks that a hello comes from the peer that it names, has a version in common with
// this node, and is for our cluster.
func (n *localNode) authenticate(conn net.Conn, l channel, h hello) (agreement, error) {
	if isOutbound(h.Addr) {
		if l == channelControl || l == channelStream {
			return agreement{}, refuse(RefusedMember, "%s is no node", h.Addr)
		}
	} else if n.authenticator != nil {
		if err := n.authenticator.identify(conn, h.Addr); err != nil {
			return agreement{}, refuse(RefusedIdentity, "your certificate is not for the address that you advertise: %v", err)
		}
	}
	if h.Cluster != n.cfg.Cluster {
		return agreement{}, refuse(RefusedCluster, "this is %q, not %q; set Config.Name to the same on all nodes of one cluster", n.cfg.Cluster, h.Cluster)
	}
	return n.agree(h)
}

// validate checks that a well-formed hello is welcome.
func (n *localNode) validate(conn net.Conn, l channel, h hello) (agreement, error) {
	with, err := n.authenticate(conn, l, h)
	if err != nil {
		return agreement{}, err
	}
	if mine := n.incarnation.Load(); h.Want != 0 && h.Want != mine {
		return agreement{}, refuse(RefusedIncarnation, "incarnation %d is gone, this is %d", h.Want, mine)
	}
	if err := n.admit(h.peer(), l); err != nil {
		return agreement{}, refuse(RefusedMember, "%v", err)
	}
	return with, nil
}

// admit asks the user's functions about a peer on a channel.
func (n *localNode) admit(p NodeID, l channel) error {
	if err := n.cfg.Admit(p); err != nil || l != channelUser {
		return err
	}
	return n.cfg.AdmitMessages(p)
}

// reaches asks the user's function whether clients reach the actor at path. They do not if it
// panics.
func (n *localNode) reaches(reach func(string) bool, path string) bool {
	allowed, err := guard.Value(func() bool { return reach(path) })
	if err != nil && n.reachPanicked.CompareAndSwap(false, true) {
		n.log.Error("Config.ClientsReach has panicked: the message is refused; later panics are not logged", zap.String("path", path), zap.Error(err))
	}
	return allowed
}

// strict reports whether only the node that advertises the address of a channel is accepted there:
// on the channel of users' messages, if nodes prove their identity.
func (n *localNode) strict(to linkKey) bool {
	return n.authenticator != nil && to.channel == channelUser
}

// sendRefusal sends a refusal to the dialer. It returns the refusal, joined with the error of
// sending.
func (n *localNode) sendRefusal(conn net.Conn, reason error) error {
	no, ok := errors.AsType[*refusal](reason)
	if !ok {
		return reason
	}
	a := answer{Incarnation: n.incarnation.Load(), Refusal: no.reason, Detail: no.detail}
	if no.reason == RefusedIncarnation {
		a.Addr = n.addr
	}
	if err := n.sendAnswer(conn, a); err != nil {
		return errors.Join(reason, err)
	}
	return reason
}

// logType logs a problem with a message type. The first time it is a warning, which says what to
// do.
func (n *localNode) logType(name, problem string, err error) {
	level := zap.DebugLevel
	if n.types.first(name) {
		level = zap.WarnLevel
	}
	n.log.WithOptions(zap.AddCallerSkip(1)).Log(level, problem, zap.String("type", name), zap.Error(err))
}

// A seenSet reports what it sees for the first time.
type seenSet struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

// maxSeen bounds the memory of a seenSet, because names come from the network. A full set reports
// nothing as first.
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
