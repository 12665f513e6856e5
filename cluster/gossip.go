package cluster

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

// Memberlist spreads news; its opinion of which nodes are alive is a hint, see the package
// documentation. Rules for its use:
//
//   - A name is never reused: it ends in the incarnation.
//   - Its callbacks run under its locks, so they only post an event and return.
//   - Members() races with its own goroutines and is not called.
//   - Callbacks may still come after Shutdown; a flag disables them.
const (
	maxBroadcast  = 1100 // bytes; a larger one would stay queued: no datagram holds it
	gossipTimeout = 2 * time.Second
	leaveTimeout  = time.Second
)

type gossipConfig struct {
	name     string // name of this incarnation, see gossipName
	label    string // separates clusters on one network
	endpoint *transport.Endpoint
	log      *zap.Logger

	// None of these may block.
	received func(data []byte)             // takes a broadcast or state of another node; owns data
	state    func() []byte                 // returns the state to exchange with other nodes
	admit    func(name string) error       // returns why that node must stay out, or nil
	seen     func(name string, alive bool) // hint: the node appeared or disappeared
}

// A gossip runs memberlist for one incarnation of this node.
type gossip struct {
	cfg    gossipConfig
	list   atomic.Pointer[memberlist.Memberlist]
	queue  memberlist.TransmitLimitedQueue
	silent atomic.Bool // stopped: callbacks do nothing
}

func startGossip(cfg gossipConfig) (*gossip, error) {
	g := &gossip{cfg: cfg}
	conf := memberlist.DefaultLANConfig()
	conf.Name = cfg.name
	conf.Label = cfg.label
	conf.TCPTimeout = gossipTimeout
	conf.EnableCompression = false
	conf.Delegate, conf.Events, conf.Alive = (*gossipDelegate)(g), (*gossipEvents)(g), (*gossipAlive)(g)
	logger, err := zap.NewStdLogAt(cfg.log.Named("memberlist"), zap.DebugLevel) // about gossip only
	if err != nil {
		return nil, fmt.Errorf("start gossip: %w", err)
	}
	conf.Logger = logger
	transport := newMemberlistTransport(cfg.endpoint)
	conf.Transport = transport
	g.queue.NumNodes = g.size
	g.queue.RetransmitMult = conf.RetransmitMult
	list, err := memberlist.Create(conf)
	if err != nil {
		g.silent.Store(true)
		_ = transport.Shutdown() // it has no error to report
		return nil, fmt.Errorf("start gossip: %w", err)
	}
	g.list.Store(list)
	return g, nil
}

// size returns the number of members that memberlist knows. Create calls it before list is set.
func (g *gossip) size() int {
	if list := g.list.Load(); list != nil {
		return list.NumMembers()
	}
	return 1
}

// join connects to the gossip of the node at address. It blocks for up to two seconds.
func (g *gossip) join(address string) error {
	host, port := "10.0.0.1", "1" // any valid address satisfies the parser; only the name counts
	_, err := g.list.Load().Join([]string{gossipName(address, 0) + "/" + host + ":" + port})
	return err
}

// broadcast spreads data, at most maxBroadcast bytes, to all nodes, without a guarantee. It
// replaces a queued broadcast with the same key.
func (g *gossip) broadcast(key string, data []byte) {
	g.queue.QueueBroadcast(&news{key: key, data: data})
}

// stop ends gossip. With leave, it first notifies the others, which takes up to a second. Some
// goroutines of memberlist end only seconds later.
func (g *gossip) stop(leave bool) {
	if leave {
		if err := g.list.Load().Leave(leaveTimeout); err != nil {
			g.cfg.log.Debug("gossip leave", zap.Error(err))
		}
	}
	g.silent.Store(true)
	if err := g.list.Load().Shutdown(); err != nil {
		g.cfg.log.Warn("gossip shutdown", zap.Error(err))
	}
}

type news struct {
	key  string
	data []byte
}

var _ memberlist.NamedBroadcast = (*news)(nil)

func (n *news) Name() string { return n.key }

func (n *news) Invalidates(older memberlist.Broadcast) bool {
	o, ok := older.(*news)
	return ok && o.key == n.key
}

func (n *news) Message() []byte { return n.data }

func (n *news) Finished() {}

type gossipDelegate gossip

// NodeMeta is empty: our own table describes the nodes.
func (d *gossipDelegate) NodeMeta(int) []byte { return nil }

// NotifyMsg receives a broadcast. memberlist keeps the buffer, so receive copies it.
func (d *gossipDelegate) NotifyMsg(data []byte) { d.receive(data) }

func (d *gossipDelegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.queue.GetBroadcasts(overhead, limit)
}

func (d *gossipDelegate) LocalState(bool) []byte { return d.cfg.state() }

func (d *gossipDelegate) MergeRemoteState(data []byte, _ bool) { d.receive(data) }

func (d *gossipDelegate) receive(data []byte) {
	if len(data) > 0 && !d.silent.Load() {
		d.cfg.received(slices.Clone(data))
	}
}

// gossipEvents receives memberlist's opinion of which nodes are alive.
type gossipEvents gossip

func (e *gossipEvents) NotifyJoin(n *memberlist.Node)   { e.seen(n.Name, true) }
func (e *gossipEvents) NotifyUpdate(n *memberlist.Node) { e.seen(n.Name, true) }
func (e *gossipEvents) NotifyLeave(n *memberlist.Node)  { e.seen(n.Name, false) }

func (e *gossipEvents) seen(name string, alive bool) {
	if !e.silent.Load() {
		e.cfg.seen(name, alive)
	}
}

// gossipAlive refuses removed incarnations, however often memberlist brings them up.
type gossipAlive gossip

func (a *gossipAlive) NotifyAlive(n *memberlist.Node) error {
	if n.Name == a.cfg.name {
		return nil
	}
	return a.cfg.admit(n.Name)
}
