package sharding

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/shardstatus"
	"github.com/understudy-go/understudy/persistence"
)

// clustered is the cluster as the hub of a node sees it. It implements outside.
type clustered struct {
	node        *cluster.Node
	hub         *hub
	coordinator actor.ActorRef[home.Input]
	stores      bool // the coordinator has a journal

	mu     sync.Mutex // guards all below
	view   cluster.View
	table  table.Table
	offers map[string]allot.Offer
	keeper map[string]actor.ActorRef[any] // of the leases, by type
	homes  map[node.ID]*askedHome         // that asks have gone to
	leaves bool                           // it hosts nothing new any more
	ticks  bool                           // retryDue is under way
}

// clusteredOf returns the hub of a node. The first call starts it, with the agent and the
// coordinator's singleton.
func clusteredOf(n *cluster.Node, shared persistence.Journal) *hub {
	return extension.Ensure(n.System, func() *hub {
		c := &clustered{node: n, stores: shared != nil, view: n.View(), offers: map[string]allot.Offer{}, keeper: map[string]actor.ActorRef[any]{}, homes: map[node.ID]*askedHome{}}
		c.hub = newHub(n.System, c)
		c.coordinator = actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[home.Input] { return coordinatorOn(n, shared, c.hub) }), singletonName)
		shell.StartAgent(n, shell.Config{
			Name: agentName, Starter: c, Noun: "shard", Quit: "shard has stopped by itself, and will be started again",
			Asked: func() { c.hub.ref.Tell(helloDue{}) }, // by a new coordinator
		})
		n.SetPhaseTimeout(actor.ServiceRequestsDone, drainTimeout)
		n.OnLeave("shards", c.drain)
		extension.Set(n.System, shardstatus.Asker(c.homeless))
		c.hub.ref.Tell(follow{c})
		return c.hub
	})
}

// hubPath is the path of the hub on every node.
const hubPath = "/system/" + hubName

// The messages to the actor of a hub in a cluster.
type (
	// follow begins to follow the members.
	follow struct{ *clustered }
	// helloDue: the coordinator is to hear what this node offers.
	helloDue struct{ quiet }
	// retryDue: messages to other hubs may have been lost.
	retryDue struct{ quiet }
)

func (follow) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// helloEvery is how often the coordinator hears from each node: it may be another one meanwhile.
const helloEvery = 5 * time.Second

// receive handles a message to the actor of the hub.
func (c *clustered) receive(ctx *actor.Context[any], msg any) {
	switch msg := msg.(type) {
	case follow:
		ctx.Defer(cluster.Subscribe(c.node, extension.Handle(ctx, func(v cluster.View) actor.Behavior[any] {
			c.viewed(v)
			return nil
		})))
		c.viewed(c.node.View())
		ctx.Every("hello", helloEvery, helloDue{})
	case helloDue:
		c.greet()
	case toNode:
		c.pushed(msg)
	case toHub:
		c.heard(msg, extension.MetadataOf(ctx))
	case typeAsked:
		msg.ReplyTo.TellNoWait(typeAnswered{Node: c.self(), Started: c.hub.region(msg.Type) != nil})
	case retryDue:
		c.retry()
	case armRetry:
		ctx.After("retry", retryEvery, retryDue{})
	}
}

// viewed takes a view of the cluster. A node that becomes a member again begins with an empty
// table: the coordinator of another cluster may use the numbers of the former one again.
func (c *clustered) viewed(v cluster.View) {
	c.mu.Lock()
	if v.Self.Incarnation != c.view.Self.Incarnation {
		c.table = table.Table{}
	}
	c.view = v
	c.lookAtHomes()
	c.mu.Unlock()
	c.hub.reroute("")
}

// greet tells the coordinator what this node offers.
func (c *clustered) greet() {
	c.mu.Lock()
	self := c.view.Self
	msg := hello{Node: self.Name, Incarnation: self.Incarnation, Has: c.table.Version()}
	for _, o := range c.offers {
		declared, known := c.table.Of(o.Type.Name)
		o.Hosts, o.Agreed = o.Hosts && !c.leaves, known && declared.Fits(o.Type)
		msg.Offers = append(msg.Offers, o)
	}
	c.mu.Unlock()
	if shell.IncarnationOf(self) == 0 {
		return
	}
	for i, o := range msg.Offers {
		r := c.hub.region(o.Type.Name)
		msg.Offers[i].Awake, msg.Offers[i].Lease = r.awake(), r.lease().current()
	}
	c.coordinator.TellNoWait(msg)
}

// offer adds a region to what this node offers.
func (c *clustered) offer(r *region) {
	o := offerOf(r)
	c.mu.Lock()
	c.offers[o.Type.Name] = o
	c.mu.Unlock()
	if o.Leased {
		k := c.keepLease(r)
		c.mu.Lock()
		c.keeper[o.Type.Name] = k
		c.mu.Unlock()
	}
	c.hub.ref.Tell(helloDue{})
}

// keeperOf returns the keeper of the lease for a type.
func (c *clustered) keeperOf(typ string) actor.ActorRef[any] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keeper[typ]
}

// pushed takes an update of the table.
func (c *clustered) pushed(msg toNode) {
	c.mu.Lock()
	self := c.view.Self
	if msg.Incarnation != self.Incarnation {
		c.mu.Unlock()
		return
	}
	changed := c.table.Apply(msg.Update)
	c.mu.Unlock()
	for _, m := range msg.Refuse {
		c.hub.refused(m, self.Name)
	}
	for _, name := range changed {
		c.hub.reroute(name)
	}
	c.greet()
}

// heard takes a message of another hub.
func (c *clustered) heard(msg toHub, m extension.Metadata) {
	switch {
	case msg.Return != nil:
		if r := c.hub.region(msg.Return.Type); r != nil {
			r.returned(msg.From, *msg.Return, m)
		}
	case msg.Recall != nil: // the letters before it have been read
		if r := c.hub.region(msg.Recall.Type); r != nil {
			r.asked(msg.From, *msg.Recall)
		} else {
			c.send(msg.From, toHub{Passed: msg.Recall}, extension.Metadata{})
		}
	case msg.Passed != nil:
		if r := c.hub.region(msg.Passed.Type); r != nil {
			r.passed(msg.From, *msg.Passed)
		}
	}
}

func (c *clustered) self() node.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view.Self.ID()
}

// member returns the member of an incarnation.
func (c *clustered) member(incarnation uint64) (node.ID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.view.Members {
		if m.Incarnation == incarnation && shell.IncarnationOf(m) != 0 {
			return m.ID(), true
		}
	}
	return node.ID{}, false
}

// homeOf returns the home of a shard, if that is another node that can be reached.
func (c *clustered) homeOf(typ string, shard int) (at node.ID, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.table.Of(typ)
	if !known || shard >= len(e.Homes) {
		return at, false
	}
	at = e.Homes[shard].Node
	return at, at != (node.ID{}) && at != c.view.Self.ID() && c.isReachable(at)
}

// isReachable is for callers that hold mu.
func (c *clustered) isReachable(id node.ID) bool {
	for _, m := range c.view.Members {
		if m.ID() == id {
			return shell.IncarnationOf(m) != 0 && c.view.Reachable(m)
		}
	}
	return false
}

func (c *clustered) send(to node.ID, msg toHub, m extension.Metadata) {
	msg.From = c.self()
	extension.TellNoWaitWith(c.hubOf(to), msg, m)
}

// hubOf returns the ref of the hub of a node.
func (c *clustered) hubOf(id node.ID) actor.ActorRef[toHub] {
	s := c.node.System
	return actor.Resolve[toHub](s, "understudy://"+s.Name()+"@"+id.Address+hubPath)
}

// armRetry schedules a retry.
type armRetry struct{ quiet }

// retryEvery is how often what may have been lost is tried again.
const retryEvery = 50 * time.Millisecond

func (c *clustered) retrySoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ticks {
		c.ticks = true
		c.hub.ref.Tell(armRetry{})
	}
}

func (c *clustered) reaches(to node.ID) bool {
	c.mu.Lock()
	v := c.view
	c.mu.Unlock()
	for _, m := range v.Members {
		if m.ID() == to {
			return v.Reachable(m)
		}
	}
	return false
}

func (c *clustered) retry() {
	c.mu.Lock()
	v := c.view
	c.ticks = false
	c.mu.Unlock()
	peers := peerStates{now: time.Now(), members: map[node.ID]bool{}}
	for _, m := range v.Members {
		peers.members[m.ID()] = v.Reachable(m)
	}
	if c.hub.tick(peers) {
		c.retrySoon()
	}
}

// Start implements shell.Starter: it starts a shard.
func (c *clustered) Start(under *actor.Context[any], r home.StartRequest, on shell.Hooks) (shell.Running, error) {
	typ, shard, ok := allot.ParseLabel(r.Label)
	region := c.hub.region(typ)
	if !ok || region == nil || !region.settings().hosts || shard >= region.capacity() {
		return shell.Running{}, fmt.Errorf("this node does not host type %q; call sharding.Start", typ)
	}
	state := allot.ParseState(r.State)
	shards := cmp.Or(state.Shards, region.signature().Shards)
	start := func(gate func() error) actor.ActorRef[shardMsg] {
		return region.startShard(under, under.Self(), shard, shards, r.Generation, shardStart{begun: on.Started, broken: on.Broken, gate: gate, former: state.Former})
	}
	if region.settings().leased() {
		ref, err := c.startLeased(region, state.Lease, start)
		if err != nil {
			return shell.Running{}, err
		}
		return runningShard(ref), nil
	}
	return runningShard(start(nil)), nil
}

func runningShard(ref actor.ActorRef[shardMsg]) shell.Running {
	return shell.Running{Ref: ref, Leave: func() {}, Stop: func() { ref.Tell(leaveShard{}) }}
}

// refused notes that the cluster has another signature for a type than this node, which has that
// name.
func (h *hub) refused(m allot.Mismatch, name string) {
	if r := h.region(m.Type); r != nil {
		r.refuse(fmt.Errorf("%w: on node %s, %q has %s; start it with the same settings on every node", ErrMismatch, name, m.Type, differences(r.signature(), m.Cluster)))
	}
}
