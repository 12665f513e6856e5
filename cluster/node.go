package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/internal/services"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/transport"
	"github.com/understudy-go/understudy/internal/volatile"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/cluster/internal/metrics"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/remote"
)

// A Node is a member of a cluster and the actor system that runs on it. Its methods may be called
// by any goroutine. Functions that take a [*actor.System] take its field System.
//
// The last call of main is usually ShutdownOnSignal, a method of System. On SIGINT or SIGTERM it
// ends a node like [Node.Leave]: other members take over its singletons first.
type Node struct {
	*actor.System

	cfg        Config
	log        *zap.Logger
	endpoint   *transport.Endpoint
	keyring    *remote.Keyring
	inbox      *inbox
	views      *viewPublisher
	state      atomic.Pointer[membership.Snapshot] // the table, for gossip
	dialErrors dialErrors
	leasing    *leasing
	discoverer *discoverer
	figures    *memberExchange[figuresTold]
	backlogs   *memberExchange[backlogsTold]
	skipped    protocol.Skipped // control messages and gossip
	counters   metrics.Counters
	history    historyWriter

	aborted   context.Context // ends membership without notifying others
	abort     context.CancelCauseFunc
	departure departure
	tasks     sync.WaitGroup // goroutines that depart waits for
	ended     chan struct{}  // closed when the last incarnation has ended
	failure   error          // error of the last incarnation; read it once ended is closed
}

// Start starts a node, makes it a member, and returns when it is up. It returns an error if cfg is
// invalid, if ctx ends first, or if a member refuses the node ([*RefusedError]); then nothing is
// left running. Without a deadline in ctx it may wait forever.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := cfg.checkSeeds(ctx, net.DefaultResolver); err != nil {
		return nil, err
	}
	n, err := listen(cfg) //nolint:contextcheck // the node outlives the start
	if err != nil {
		return nil, err
	}
	go n.run() //nolint:contextcheck // the node outlives the start
	if err := n.awaitUp(ctx); err != nil {
		n.abort(ErrEnded)
		return nil, errors.Join(err, n.System.Shutdown(context.WithoutCancel(ctx)))
	}
	return n, nil
}

// listen returns a node that listens on the network and does not look for a cluster yet.
func listen(cfg Config) (*Node, error) {
	n := &Node{cfg: cfg, inbox: newInbox(), views: newViewPublisher(View{}), departure: newDeparture(), ended: make(chan struct{})}
	n.aborted, n.abort = context.WithCancelCause(context.Background())
	var err error
	if n.keyring, err = cfg.keyring(); err != nil {
		return nil, err
	}
	first := node.NewIncarnation()
	log := cfg.Logger
	if cfg.NodeID != "" { // else it is known when the node has an address
		log = log.With(zap.String("node", cfg.NodeID))
	}
	endpoint, err := transport.Listen(cfg.Traffic.apply(transport.Config{
		Cluster:       cfg.Name,
		Protocol:      spoken(),
		Incarnation:   first,
		Bind:          cfg.Bind,
		Advertise:     cfg.Advertise,
		TLS:           cfg.TLS,
		Keyring:       n.keyring,
		Network:       cfg.Network,
		Logger:        log,
		Control:       n.control,
		AdmitMessages: n.admitMessages,
		DialFailed:    n.dialFailed,
		ClientsReach:  cfg.ClientsReach,
	}))
	if err != nil {
		return nil, fmt.Errorf("cluster: start: %w", err)
	}
	n.cfg.NodeID = cmp.Or(cfg.NodeID, endpoint.Addr())
	n.log = cfg.Logger.Named("cluster").With(zap.String("node", n.cfg.NodeID))
	n.discoverer = &discoverer{by: cfg.Discovery, log: n.log}
	n.endpoint = endpoint
	inThisProcess.Store(endpoint.Addr(), nil)
	n.views.publish(viewOf(membership.View{Self: n.self(first)}))
	n.System = actor.NewSystem(cfg.Name, append([]actor.Option{
		actor.WithLogger(cfg.Logger.With(zap.String("node", n.cfg.NodeID))), extension.WithTransport(endpoint.Addr(), endpoint),
		actorhook.KeepMessages(cfg.KeepDeadLetters).(actor.Option), // by its contract
	}, cfg.SystemOptions...)...)
	if cfg.Strict {
		volatile.Of(n.System).Forbid()
	}
	explainUnsharded(n.System, shardtree.NotOnNode, shardtree.ErrNotPlaced)
	n.history = newHistoryWriter(n.System)
	n.leasing = &leasing{aborted: n.aborted, system: n.System, log: n.log}
	peers.Attach(n.System, peers.Lookup{Features: n.featuresOf, Name: func(address string) string { return memberAt(n.View(), address) }})
	singletons.Attach(n.System, show(n, n.cfg.topologyOf))
	extension.Set(n.System, n)
	expected := cfg.Expected()
	extension.Set(n.System, peers.Failover{Margin: cfg.margin(), Fenced: expected.FailoverFenced, Unfenced: expected.FailoverUnfenced})
	if cfg.Journal != nil {
		extension.Set(n.System, cfg.Journal)
	}
	if cfg.Leases != nil {
		extension.Set(n.System, leaseholder.Source(cfg.Leases))
	}
	services.Attach(n.System, show(n, peersOf))
	n.OnShutdown(actor.ServiceUnbind, "clients", func(ctx context.Context) error { return tellClients(ctx, n) })
	n.OnShutdown(actor.ClusterLeave, "cluster", n.handOver)
	n.OnShutdown(actor.AfterActors, "cluster", n.depart)
	endpoint.Serve(n.System)
	n.followMembers()
	startContact(n.System, n.views)
	n.figures = figuresExchange(n)
	n.figures.serve()
	n.backlogs = backlogExchange(n)
	n.backlogs.serve()
	serveCalendar(n)
	telemetry.AddSource(n.System, func() []telemetry.Family {
		return metrics.Families(metrics.State{View: n.View().in, Skipped: n.skippedKinds()}, &n.counters)
	})
	return n, nil
}

func (n *Node) self(incarnation uint64) membership.Member {
	return membership.Member{
		Name:        n.cfg.NodeID,
		Address:     n.endpoint.Addr(),
		Incarnation: incarnation,
		Roles:       n.cfg.Roles,
		Meta:        n.cfg.Meta,
		AppVersion:  n.cfg.AppVersion,
	}
}

func (n *Node) run() {
	defer close(n.ended)
	defer n.views.end()
	n.logStart()
	strategy, err := n.cfg.leasedDowning(n.Address())
	if err != nil {
		n.over(membership.End{Err: err})
		return
	}
	set := membership.Settings{
		Self:         n.View().in.Self,
		Seeds:        n.cfg.Seeds,
		Discovers:    n.cfg.Discovery != nil,
		MinSeeds:     n.cfg.MinSeeds,
		Force:        n.cfg.ForceForm,
		Founding:     drawClusterID(),
		MinMembers:   n.cfg.MinMembers,
		MinMembersOf: n.cfg.MinMembersOf,
		Detector:     membership.Detector(n.cfg.Detector),
		Downing:      strategy,
		Leader:       n.cfg.Leader.inside(),
		Rejoin:       !n.cfg.StayDown,
	}
	for {
		n.counters.Began()
		e := n.runIncarnation(set)
		if !e.Rejoin {
			n.over(e)
			return
		}
		set = n.next(set, e)
		n.log.Info("beginning a new incarnation")
		n.endpoint.Rename(set.Self.Incarnation)
	}
}

func (n *Node) over(e membership.End) {
	if n.failure = e.Err; e.Err != nil && n.aborted.Err() == nil {
		n.log.Error("node has ended", zap.Error(e.Err))
		n.history.ended(n.cfg.NodeID, e.Err)
	}
	if _, halted := extension.Halted(n.System); !halted {
		go n.leaveAlone()
	}
}

// awaitUp waits until the node is up, and returns why it did not come to that.
func (n *Node) awaitUp(ctx context.Context) error {
	for v := range n.Views(ctx) {
		if v.Self.Status == Up {
			return nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		why, advice := n.whyNotUp()
		return fmt.Errorf("cluster: start of %s: %s: %w", n.cfg.NodeID, strings.Join(append([]string{why}, advice...), "; "), err)
	}
	<-n.ended
	if n.failure != nil {
		return fmt.Errorf("cluster: start of %s: %w", n.cfg.NodeID, n.failure)
	}
	return fmt.Errorf("cluster: start of %s: %w before it was up; its log says why", n.cfg.NodeID, ErrEnded)
}

// Keyring returns the secrets of the node, to change them while the cluster runs. It returns nil if
// [Config.Secret] is not set. Changes last until the process ends.
func (n *Node) Keyring() *remote.Keyring { return n.keyring }

// View returns the current view of this node.
func (n *Node) View() View {
	v, _, _ := n.views.read()
	return v
}

// Views yields the current view, and then the newest one after each change, until ctx ends or the
// node has ended. A slow reader misses views, but never the newest.
func (n *Node) Views(ctx context.Context) iter.Seq[View] { return n.views.follow(ctx) }

// Down downs the member with this name (NodeID of [Config]). What ran on it starts elsewhere. If it
// still lives, it stops its singletons and rejoins as a new incarnation. Down returns
// [ErrNotMember] if no member has the name. It does not wait until the member is down.
func (n *Node) Down(name string) error {
	v := n.View()
	if _, ok := v.Member(name); !ok {
		return fmt.Errorf("%w: %q; the members are %s", ErrNotMember, name, strings.Join(memberNames(v.in.Members), ", "))
	}
	n.inbox.post(0, membership.DownAsked{Name: name})
	return nil
}

// The endpoint calls it.
func (n *Node) control(from remote.NodeID, data []byte) {
	to, in, err := membership.Decode(from.Address, data)
	if err != nil {
		n.notUnderstood(from.Address, err)
		return
	}
	if !n.inbox.offer(to, in) {
		n.cfg.Logger.Debug("message dropped, as too many wait", zap.String("peer", from.Address))
	}
}

// dialFailed records a failed connection, and posts it if it says something about the address. The
// endpoint calls it.
func (n *Node) dialFailed(address string, err error) {
	n.dialErrors.note(address, err)
	ev := membership.DialFailed{Address: address, Refused: errors.Is(err, syscall.ECONNREFUSED)}
	if errors.Is(err, remote.ErrNotAuthenticated) {
		ev.Mistrust = err.Error()
	}
	if errors.Is(err, remote.ErrForeign) {
		ev.Foreign = err.Error()
	}
	if refusal, ok := errors.AsType[*remote.RefusedError](err); ok {
		if refusal.Refusal == remote.RefusedCluster || refusal.Refusal == remote.RefusedVersion {
			ev.Foreign = refusal.Refusal.String() + ": " + refusal.Detail
		}
		if refusal.Refusal == remote.RefusedIncarnation && refusal.Peer.Address == address {
			ev.Lives = refusal.Peer.Incarnation
		}
	}
	if ev.Refused || ev.Foreign != "" || ev.Lives != 0 || ev.Mistrust != "" {
		n.inbox.post(0, ev)
	}
}

func drawClusterID() (id membership.ClusterID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// Events yields events that describe the cluster as it is now, and then its changes, until ctx ends
// or the node has ended. It is [Node.Views] as a sequence of events. A slow reader misses members
// that come and go in the meantime, but the events always add up to the newest view.
func (n *Node) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var before View
		for v := range n.Views(ctx) {
			for _, e := range v.Since(before) {
				if !yield(e) {
					return
				}
			}
			before = v
		}
	}
}

// A Gone is a removed member that may still be running: it was removed without a sign that it has
// stopped.
type Gone struct {
	ID   remote.NodeID
	Name string // Config.NodeID

	Since time.Time // when this node saw it removed, by the operating system's clock

	// Until is when the removal margin ends. By then a node that was only cut off has learned that
	// it is not a member, and has had the time to stop. A node that was paused has not.
	Until time.Time
}

// Gone returns the removed members that may still be running: those that neither left nor were
// replaced at their address. They are ordered by address and incarnation. v is a view of this node.
// A member stays in the list after Until, for as long as the cluster remembers it.
func (n *Node) Gone(v View) []Gone {
	removals := membership.UncleanRemovals(v.in)
	all := make([]Gone, 0, len(removals))
	for _, r := range removals {
		at := n.cfg.inSystemTime(r.Since)
		all = append(all, Gone{ID: r.ID, Name: r.Name, Since: at, Until: at.Add(n.cfg.margin())})
	}
	return all
}
