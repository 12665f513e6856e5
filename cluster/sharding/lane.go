package sharding

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/remote"
)

// A letter is a message to an entity, on its way.
type letter struct {
	extension.Described[any]
	name string // of the entity, as its path ends
	full string // its full path; "" if that has to be made
	from uint64 // the incarnation of the node that sent it here; 0 for a message that was told here, or by a client
}

// letterTo returns a letter of this node.
func letterTo(name string, msg any, m extension.Metadata) letter {
	return letter{name: name, Described: extension.Described[any]{Message: msg, Metadata: m}}
}

// A lane brings the messages to the entities of one shard from this node to wherever the shard is.
// A message is taken by the goroutine that sends it, so an entity on this node costs no detour
// through another actor. The lane carries out what a [recall.Lane] and [recall.Leftovers] decide.
type lane struct {
	region *region
	shard  int

	mu        sync.Mutex // guards all below
	letters   recall.Lane[letter]
	left      recall.Leftovers[letter]
	last      remote.NodeID // the home to which letters could go at last; zero before the first
	away      time.Time     // when this node learnt that they cannot go there any more; zero while they can
	residents *residents    // the shard is here; nil if it is not
	opens     func()        // the shard is to begin here, when it has what is left of it; nil if it is not
	closed    error         // why no letter is taken any more; nil while they are
	cause     error         // why the journal keeps the ids of remembered entities from being read or stored; nil if it does not
}

func newLane(r *region, shard int) *lane {
	l := &lane{region: r, shard: shard}
	l.letters, l.left = recall.NewLane[letter](outlet{l}), recall.NewLeftovers[letter](outlet{l})
	return l
}

// enter takes a letter that has come from an actor here, or from another node. mu is held.
func (l *lane) enter(of letter) (here actor.AnyRef) {
	told := of.from == 0
	if told && l.refuses(of) {
		return here
	}
	if l.letters.Here() && (told || !l.letters.Returning()) {
		return l.residents.offer(of)
	}
	// The ref of the entity is not remembered from here on: messages that are told to it directly
	// would overtake those that wait.
	if from := l.region.sender(of); from != (remote.NodeID{}) {
		l.letters.Arrived(from, of)
	} else {
		l.take(of)
	}
	return here
}

// straight returns an entity for which enter would only offer it a letter of another node.
func (l *lane) straight(name string) (here actor.AnyRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.letters.Here() || l.letters.Returning() {
		return nil
	}
	if e := l.residents.all[name]; e != nil && e.takes() {
		return e.ref
	}
	return nil
}

// told takes a message that was told here.
func (l *lane) told(of letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(of)
}

// take sends a letter on, or keeps it. mu is held.
func (l *lane) take(of letter) {
	switch {
	case l.refuses(of):
	case !l.letters.Clear() && l.full():
		l.region.drop(of, fmt.Errorf("%w: %w", ErrBufferFull, l.says(l.waitsFor())))
	default:
		l.letters.Take(of)
	}
}

// refuses makes a dead letter of a letter if none are taken any more. mu is held.
func (l *lane) refuses(of letter) bool {
	switch {
	case l.closed != nil:
		l.region.drop(of, l.closed)
	case l.gone():
		l.region.drop(of, ErrNoDaemon)
	default:
		return false
	}
	return true
}

// full reports whether there is no room for another letter, after those have been dropped that
// nobody waits for any more.
func (l *lane) full() bool {
	if l.letters.Size() < l.region.set.buffer && l.region.held.Load() < maxHeld {
		return false
	}
	gone := l.letters.Sweep(letter.Withdrawn)
	l.dropAll(gone, actor.ErrWithdrawn)
	return len(gone) == 0
}

// maxHeld is how many letters the lanes of one type keep at most.
const maxHeld = 100_000

// An outlet carries out what the parts of a lane decide. mu of the lane is held.
type outlet struct{ *lane }

func (o outlet) Deliver(of letter)                        { o.residents.offer(of) }
func (o outlet) Send(to remote.NodeID, of letter)         { o.region.sendTo(to, of) }
func (o outlet) Return(to remote.NodeID, of letter)       { o.region.giveBack(to, of, false) }
func (o outlet) Recall(number uint64, from remote.NodeID) { o.ask(from, hubs.Recall{Number: number}) }

func (o outlet) Passed(number uint64, to remote.NodeID) { o.answer(to, hubs.Recall{Number: number}) }

func (o outlet) Fetch(generation uint64, from remote.NodeID) {
	o.ask(from, hubs.Recall{Left: true, Number: generation})
}

func (o outlet) Given(generation uint64, to remote.NodeID) {
	o.answer(to, hubs.Recall{Left: true, Number: generation})
}

func (o outlet) Give(to remote.NodeID, of letter) {
	o.region.held.Add(-1)
	o.region.giveBack(to, of, true)
}

func (o outlet) ask(from remote.NodeID, q hubs.Recall) {
	q.Of, q.Shard = o.region.name, o.shard
	o.region.hub.post.Send(from, hubs.Message{Recall: &q}, extension.Metadata{})
	o.region.hub.post.RetrySoon()
}

func (o outlet) answer(to remote.NodeID, q hubs.Recall) {
	q.Of, q.Shard = o.region.name, o.shard
	o.region.hub.post.Send(to, hubs.Message{Passed: &q}, extension.Metadata{})
}

// Hold tells the ask of the letter why that waits: on another node or a client it cannot know.
func (o outlet) Hold(of letter) letter {
	o.region.held.Add(1)
	of.Described = of.Hold()
	o.explain(of)
	return of
}

func (o outlet) Pass(of letter) bool {
	o.region.held.Add(-1)
	if of.Withdrawn() {
		o.region.drop(of, actor.ErrWithdrawn)
		return false
	}
	extension.Explain(o.region.system, of.Message, nil) // it does not wait any more
	return true
}

// asked answers a node that recalls its letters, or fetches what was left here.
func (l *lane) asked(by remote.NodeID, q hubs.Recall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.Left {
		l.left.Asked(by, q.Number)
	} else {
		l.letters.Asked(by, q.Number)
	}
}

// returned takes a letter of ours that another node does not take, or one that was left there.
func (l *lane) returned(from remote.NodeID, of letter, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	extension.FollowNobody(l.region.system, of.Message)
	if left {
		l.left.Keep(outlet{l}.Hold(of))
		return
	}
	l.letters.Returned(from, of)
	if l.note(); !l.letters.Clear() {
		l.explain(of) // again: that it came back may be the first sign of the loss
	}
}

// passed takes the answer to what this node has asked.
func (l *lane) passed(from remote.NodeID, q hubs.Recall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.Left {
		l.left.Given(from, q.Number)
		l.open()
	} else {
		l.letters.Passed(q.Number)
		l.note()
	}
}

// gather asks the former homes of a shard that is to begin here for what its entities have left.
func (l *lane) gather(generation uint64, former []remote.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left.Fetch(generation, slices.DeleteFunc(slices.Clone(former), func(id remote.NodeID) bool {
		return !l.member(id) || id == l.region.hub.post.Self()
	}))
}

// gathered reports whether all of that is here. Otherwise it lets opens be called when it is.
func (l *lane) gathered(opens func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opens = opens
	if l.left.Ready() {
		l.opens = nil
	}
	return l.opens == nil
}

// open lets the shard begin that waits for what is left of it, if that is here. mu is held.
func (l *lane) open() {
	if l.opens != nil && l.left.Ready() {
		l.opens()
		l.opens = nil
	}
}

func (l *lane) member(id remote.NodeID) bool {
	_, member := l.region.hub.post.Member(id.Incarnation)
	return member
}

// reroute follows a change of the table, of the members, or of the shard here.
func (l *lane) reroute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rerouteHeld()
}

// rerouteHeld is reroute for a caller that holds mu.
func (l *lane) rerouteHeld() {
	if l.gone() {
		l.dropHeld(ErrNoDaemon)
	}
	l.left.Viewed(l.member)
	l.letters.Viewed(l.member)
	l.letters.Redirect(l.route())
	if l.left.Size() > 0 && l.abandoned() {
		l.letters.Before(l.left.Take())
	}
	l.letters.Flush()
	l.note()
	l.open()
}

// note notes where letters go, or since when they cannot. A node that has never known a home cannot
// say when it was lost.
func (l *lane) note() {
	switch route := l.letters.Route(); {
	case !l.letters.Clear():
		if l.away.IsZero() && l.last != (remote.NodeID{}) {
			l.away = time.Now()
		}
	case route.Kind == recall.ToPeer:
		l.last, l.away = route.Peer, time.Time{}
	default:
		l.last, l.away = l.region.hub.post.Self(), time.Time{}
	}
}

// abandoned reports whether no home is going to ask for what is left here: a later one has begun
// without it, because this one was taken for gone, or because a coordinator has ended meanwhile.
func (l *lane) abandoned() bool {
	_, generation := l.region.hub.tableHome(l.region.name, l.shard)
	return l.letters.Route().Kind == recall.ToPeer && l.left.Outlived(generation)
}

func (l *lane) route() recall.Route {
	if r := l.residents; r != nil {
		if r.takes() {
			return recall.Route{Kind: recall.ToInstance}
		}
		return recall.Route{Kind: recall.ToSelf}
	}
	if home, found := l.region.homeOf(l.shard); found {
		return recall.Route{Kind: recall.ToPeer, Peer: home}
	}
	return recall.Route{}
}

// tick tries again what may have been lost. It reports whether it must be called again.
func (l *lane) tick(peers hubs.Peers) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more = l.letters.Waits() || !l.left.Ready(); more {
		l.letters.Tick(peers.Now, peers)
		l.letters.Flush()
		l.note()
		l.left.Tick(peers.Now, peers)
		l.open()
	}
	return more
}

// close makes dead letters of what waits.
func (l *lane) close(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = why
	l.dropHeld(why)
}

// gone reports whether the type is known to have fewer daemons.
func (l *lane) gone() bool {
	n := int(l.region.daemons.Load())
	return n > 0 && l.shard >= n
}

// dropHeld makes dead letters of all that waits. mu is held.
func (l *lane) dropHeld(why error) { l.dropAll(append(l.left.Take(), l.letters.Drain()...), why) }

// dropAll makes dead letters of letters that have waited. mu is held.
func (l *lane) dropAll(all []letter, why error) {
	for _, of := range all {
		l.region.held.Add(-1)
		l.region.drop(of, why)
	}
}
