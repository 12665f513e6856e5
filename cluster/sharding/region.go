package sharding

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/remote"
)

// A Region is a type of entities on one node, see [Start]. Any goroutine may call its methods.
type Region[M any] struct {
	plain *region
	refs  func(name string) actor.ActorRef[M]
}

// Ref returns the ref of the entity with that id. The entity need not exist: its first message
// starts it. Refs to one entity are equal, may be sent in messages, and mean the same entity on
// every node that has started the type. They cannot be watched, because an entity that passivates
// has not ended.
//
// Messages of one sender to one entity stay in order, also when the entity passivates, moves or is
// started again, except if its node crashes. As with any actor, a message is lost if the entity
// ends before it has handled it; use Ask to be sure.
//
// Ref panics if the id is not valid; see [ValidateID].
func (r *Region[M]) Ref(id string) actor.ActorRef[M] {
	ref, err := r.Lookup(id)
	if err != nil {
		panic(err)
	}
	return ref
}

// Lookup is [Region.Ref] for an id that comes from outside the program: it returns the error of
// [ValidateID] if the id is not valid.
func (r *Region[M]) Lookup(id string) (actor.ActorRef[M], error) {
	if id != "" && len(id) <= maxID && isPlain(id) { // as nearly all are: it is valid, and stands for itself
		return r.refs(id), nil
	}
	if err := ValidateID(id); err != nil {
		return actor.ActorRef[M]{}, err
	}
	return r.refs(escape(id)), nil
}

// Name returns the name of the type.
func (r *Region[M]) Name() string { return r.plain.name }

// A region is a [Region], whatever its type of messages.
type region struct {
	system   *actor.System
	hub      *hub
	name     string
	set      settings
	prefix   string // of the paths of entities
	scheme   string // what comes before it in full paths
	slices   slicer
	kind     messageKind
	shell    any    // the Region
	message  string // the name of the type of messages
	lanes    []*lane
	held     atomic.Int64 // letters that the lanes keep
	limiter  limiter
	tenure   leaseTerm
	sourcing sourcing
	counted  counted
	refused  atomic.Pointer[error] // why this node takes no part
	started  time.Time
	wakes    wakes
	daemons  atomic.Int64 // how many daemons there are now; 0 if this node does not know, and for other types
}

// wakes has what wakes entities for stored timers: functions of the waker, or nil without one. Any
// goroutine may call them.
type wakes struct {
	begun  func()                         // a shard has begun
	left   func(id string, due time.Time) // an entity has ended with a timer
	warned atomic.Bool
}

// counted is what a region has counted since it was started.
type counted struct {
	failures, returned atomic.Uint64
	dropped            drops
}

// newRegion returns a region without a kind.
func newRegion(h *hub, name string, set settings) *region {
	r := &region{system: h.system, hub: h, name: name, set: set, started: time.Now(), prefix: "/" + shardtree.Name + "/" + escape(name) + "/"}
	r.scheme, r.slices = "understudy://"+h.system.Name(), slicerOf(name)
	r.limiter.limit = set.limit
	if set.sourced {
		r.sourcing.found(table.EventSourced)
	}
	r.lanes = make([]*lane, set.maxShards())
	for shard := range r.lanes {
		r.lanes[shard] = newLane(r, shard)
	}
	return r
}

// now returns the time since the region was started, which takes less memory than a [time.Time].
func (r *region) now() time.Duration { return time.Since(r.started) }

// find returns the ref with a path below the prefix, or nil.
func (r *region) find(name string) actor.AnyRef {
	id, ok := unescape(name)
	if _, there := r.shardOf(id); !ok || !there {
		return nil
	}
	return r.kind.ref(name)
}

// Told implements extension.Router.
func (r *region) Told(full string, msg any, m extension.Metadata) (here actor.AnyRef) {
	of := letterTo(full[len(r.scheme)+len(r.prefix):], msg, m)
	of.full = full
	return r.enter(of)
}

// Arrived implements extension.Router.
func (r *region) Arrived(path string, from uint64, msg any, encoded extension.Arrival) (here actor.AnyRef) {
	of := letterTo(path[len(r.prefix):], msg, encoded.Metadata)
	of.from = from
	return r.enter(of)
}

// Straight implements extension.StraightRouter.
func (r *region) Straight(name string) (here actor.AnyRef) {
	shard, there := r.shardOf(idOf(name))
	if !there {
		return nil
	}
	return r.lanes[shard].straight(name)
}

func (r *region) enter(of letter) (here actor.AnyRef) {
	l := r.laneOf(of.name)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enter(of)
}

func (r *region) laneOf(name string) *lane {
	shard, _ := r.shardOf(idOf(name)) // a ref has been made of it
	return r.lanes[shard]
}

// shardOf returns the shard of an entity: a range of slices, so that a projection over the slices
// of a shard reads the events of its entities. It returns false if the type has no such entity.
func (r *region) shardOf(id string) (shard int, there bool) {
	if r.set.daemons > 0 {
		return daemonShard(id)
	}
	return r.slices.of(id) * r.set.shards / journal.Slices, true
}

// drop makes a dead letter of a letter.
func (r *region) drop(of letter, why error) {
	r.counted.dropped.add(why)
	extension.DeadLetter(r.system, r.pathOf(of.name), of.Message, why)
}

// pathOf returns the full path of the entity whose path ends with name.
func (r *region) pathOf(name string) string {
	return r.scheme + r.prefix + name
}

// sendTo sends a letter to the node that has the shard.
func (r *region) sendTo(to remote.NodeID, of letter) {
	full := of.full
	if full == "" {
		full = r.pathOf(of.name)
	}
	if of.from == 0 && of.Metadata.Request() != nil {
		r.hub.post.Follow(to, of.Message)
	}
	extension.SendTo(r.system, extension.Target{
		Address: to.Address, Path: full[len(r.scheme):], UID: r.hub.post.Self().Incarnation, Full: full,
	}, of.Message, of.Metadata)
}

// sender returns the node that has sent a letter here; the zero ID if it was told here, or by a
// node that is no member any more.
func (r *region) sender(of letter) (from remote.NodeID) {
	if of.from != 0 {
		from, _ = r.hub.post.Member(of.from)
	}
	return from
}

// giveBack returns a letter to the node that has sent it, or gives one that was left here to
// another.
func (r *region) giveBack(to remote.NodeID, of letter, left bool) {
	payload, err := extension.PackMessage(of.Message)
	if err != nil { // it was decoded from one, unless it was told here and left
		r.drop(of, err)
		return
	}
	if !left {
		r.counted.returned.Add(1)
	}
	r.hub.post.Send(to, hubs.Message{Return: &hubs.Letter{Left: left, Path: r.prefix + of.name, Payload: payload}}, of.Metadata)
}

// returned takes a letter that another node has returned, or that was left there.
func (r *region) returned(from remote.NodeID, name string, back hubs.Letter, m extension.Metadata) {
	id, ok := unescape(name)
	shard, there := r.shardOf(id)
	if !ok || !there {
		return
	}
	msg, content, err := r.kind.unpack(back.Payload)
	if err != nil {
		extension.DeadLetter(r.system, r.pathOf(name), content, err)
		return
	}
	r.lanes[shard].returned(from, letterTo(name, msg, m), back.Left)
}

// asked takes the recall of another node.
func (r *region) asked(by remote.NodeID, q hubs.Recall) {
	if q.Shard < 0 || q.Shard >= len(r.lanes) {
		r.hub.post.Send(by, hubs.Message{Passed: &q}, extension.Metadata{})
		return
	}
	r.lanes[q.Shard].asked(by, q)
}

func (r *region) passed(from remote.NodeID, q hubs.Recall) {
	if q.Shard >= 0 && q.Shard < len(r.lanes) {
		r.lanes[q.Shard].passed(from, q)
	}
}

// homeOf returns the other node that is the home of a shard, if it can be reached.
func (r *region) homeOf(shard int) (home remote.NodeID, found bool) {
	return r.hub.homeOf(r.name, shard)
}

func (r *region) reroute() {
	if r.set.daemons > 0 {
		r.count(r.hub.shardsOf(r.name))
	}
	for _, l := range r.lanes {
		l.reroute()
	}
}

func (r *region) tick(peers hubs.Peers) (more bool) {
	for _, l := range r.lanes {
		more = l.tick(peers) || more
	}
	return more
}

// awake returns how many entities are awake or about to start, by shard that is here and has any.
func (r *region) awake() map[int]int {
	all := map[int]int{}
	for shard, l := range r.lanes {
		if n := l.inhabitants(); n > 0 {
			all[shard] = n
		}
	}
	return all
}

// refuse makes dead letters of all messages from now on.
func (r *region) refuse(why error) {
	if r.refused.Swap(&why) == nil {
		r.system.Log().Error("type of entities takes no part on this node", zap.Error(why))
	}
	for _, l := range r.lanes {
		l.close(why)
	}
}

func (r *region) close() {
	for _, l := range r.lanes {
		l.close(ErrStopped)
	}
}

// signature returns what the nodes that host the type must agree on.
func (r *region) signature() table.Type {
	return table.Type{Name: r.name, Shards: r.set.initialShards(), Message: r.message, Role: r.set.role, Mode: r.set.mode()}
}
