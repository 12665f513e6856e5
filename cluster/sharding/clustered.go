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
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// clustered is the cluster as the hub of a node sees it. It implements outside.
type clustered struct {
	node        *cluster.Node
	hub         *hub
	post        *hubs.Post
	coordinator actor.ActorRef[home.Input]

	mu     sync.Mutex // guards all below
	life   uint64     // the incarnation of this node that the table is for
	table  table.Table
	offers map[string]allot.Offer
	keeper map[string]actor.ActorRef[any] // of the leases, by type
	leaves bool                           // it hosts nothing new any more
}

// clusteredOf returns the hub of a node. The first call starts it, with the agent and the
// coordinator's singleton.
func clusteredOf(n *cluster.Node) *hub {
	return extension.Ensure(n.System, func() *hub {
		c := &clustered{node: n, life: n.View().Self.Incarnation, offers: map[string]allot.Offer{}, keeper: map[string]actor.ActorRef[any]{}}
		c.post = hubs.NewPost(n, hubName, hubs.On{Viewed: c.viewed, Tick: func(p hubs.Peers) bool { return c.hub.tick(p) }})
		c.hub = newHub(n.System, c, c.post)
		c.coordinator = actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[home.Input] { return coordinatorOn(n, c.hub) }), singletonName)
		shell.StartAgent(n, shell.Config{
			Name: agentName, Starter: c, Noun: "shard", Quit: "shard has stopped by itself, and will be started again",
			Asked: func() { c.hub.ref.Tell(helloDue{}) }, // by a new coordinator
		})
		n.SetPhaseTimeout(actor.ServiceRequestsDone, drainTimeout)
		n.OnLeave("shards", c.drain)
		c.hub.ref.Tell(begin{})
		return c.hub
	})
}

// hubPath is the path of the hub on every node.
const hubPath = "/system/" + hubName

// The messages to the actor of a hub in a cluster.
type (
	// begin begins to follow the members.
	begin struct{ quiet }
	// helloDue: the coordinator is to hear what this node offers.
	helloDue struct{ quiet }
)

// helloEvery is how often the coordinator hears from each node: it may be another one meanwhile.
const helloEvery = 5 * time.Second

// receive handles a message to the actor of the hub.
func (c *clustered) receive(ctx *actor.Context[any], msg any) {
	switch msg := msg.(type) {
	case begin:
		c.post.Start(c.hub.ref)
		ctx.Every("hello", helloEvery, helloDue{})
	case helloDue:
		c.greet()
	case toNode:
		c.pushed(msg)
	case hubs.Message:
		c.heard(msg, extension.MetadataOf(ctx))
	case typeAsked:
		msg.ReplyTo.TellNoWait(typeAnswered{Node: c.post.Self(), Started: c.hub.region(msg.Type) != nil})
	default:
		c.post.Receive(ctx, msg)
	}
}

// viewed takes a view of the cluster. A node that becomes a member again begins with an empty
// table: the coordinator of another cluster may use the numbers of the former one again.
func (c *clustered) viewed(v cluster.View) {
	c.mu.Lock()
	if v.Self.Incarnation != c.life {
		c.life, c.table = v.Self.Incarnation, table.Table{}
	}
	c.mu.Unlock()
	c.hub.reroute("")
}

// greet tells the coordinator what this node offers.
func (c *clustered) greet() {
	self := c.post.View().Self
	c.mu.Lock()
	msg := hello{Node: self.Name, Incarnation: self.Incarnation, Has: c.table.Version()}
	for _, o := range c.offers {
		declared, known := c.table.Of(o.Type.Name)
		o.Hosts, o.Agreed = o.Hosts && !c.leaves, known && declared.Fits(o.Type)
		if o.Agreed {
			o.Type.Sourced = declared.Sourced
		}
		msg.Offers = append(msg.Offers, o)
	}
	c.mu.Unlock()
	if shell.IncarnationOf(self) == 0 {
		return
	}
	for i, o := range msg.Offers {
		r := c.hub.region(o.Type.Name)
		msg.Offers[i].Entities = r.sourcing.learn(o.Type.Sourced)
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
	self := c.post.View().Self
	if msg.Incarnation != self.Incarnation {
		return
	}
	c.mu.Lock()
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
func (c *clustered) heard(msg hubs.Message, m extension.Metadata) {
	switch {
	case msg.Return != nil:
		if r, name := c.hub.regionAt(msg.Return.Path); r != nil {
			r.returned(msg.From, name, *msg.Return, m)
		}
	case msg.Recall != nil: // the letters before it have been read
		if r := c.hub.region(msg.Recall.Of); r != nil {
			r.asked(msg.From, *msg.Recall)
		} else {
			c.post.Send(msg.From, hubs.Message{Passed: msg.Recall}, extension.Metadata{})
		}
	case msg.Passed != nil:
		if r := c.hub.region(msg.Passed.Of); r != nil {
			r.passed(msg.From, *msg.Passed)
		}
	}
}

// homeOf returns the home of a shard, if that is another node that can be reached.
func (c *clustered) homeOf(typ string, shard int) (at remote.NodeID, found bool) {
	at, _ = c.tableHome(typ, shard)
	return at, at != (remote.NodeID{}) && at != c.post.Self() && c.post.Reaches(at)
}

// Start implements shell.Starter: it starts a shard.
func (c *clustered) Start(under *actor.Context[any], r home.StartRequest, on shell.Hooks) (shell.Running, error) {
	typ, shard, ok := allot.ParseLabel(r.Label)
	region := c.hub.region(typ)
	if !ok || region == nil || !region.set.hosts || shard >= region.capacity() {
		return shell.Running{}, fmt.Errorf("%s does not host type %q; call sharding.Start", c.post.Self().Address, typ)
	}
	state := allot.ParseState(r.State)
	if state.Fenced && region.sourcing.found(table.EventSourced) != table.EventSourced {
		return shell.Running{}, fmt.Errorf("type %q is event-sourced, and has had an entity on %s that is not", typ, c.post.Self().Address)
	}
	shards := cmp.Or(state.Shards, region.signature().Shards)
	start := func(gate func() error) actor.ActorRef[shardMsg] {
		return region.startShard(under, under.Self(), shard, shards, r.Generation, shardStart{begun: on.Started, broken: on.Broken, gate: gate, former: state.Former})
	}
	if region.set.leased() {
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
