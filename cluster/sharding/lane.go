package sharding

import (
	"math"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/recall"
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
// Messages of one sender to one entity stay in order, also while the shard moves; see package
// recall. A message is taken by the goroutine that sends it, so an entity on this node costs no
// detour through another actor.
type lane struct {
	region *region
	shard  int

	mu        sync.Mutex // guards all below
	buffer    recall.Buffer[letter]
	retry     recall.RetryTimer
	kept      time.Time  // since when letters wait
	residents *residents // the shard is here; nil if it is not
	closed    error      // why no letter is taken any more; nil while they are

	former *residents           // those that were here last; nil if none of their letters is here
	passes bool                 // the buffer has, or has sent on, letters of theirs that may be of any node
	asks   map[node.ID]recallOf // the recalls that are not answered yet
	back   recall.Returns[uint64]
}

func newLane(r *region, shard int) *lane {
	l := &lane{region: r, shard: shard}
	l.buffer.Limit = math.MaxInt // it is checked before
	return l
}

// enter takes a letter that has come from an actor here, or from another node. mu is held.
func (l *lane) enter(of letter) (here actor.AnyRef) {
	if of.from != 0 {
		return l.arrived(of)
	}
	return l.take(of)
}

// told takes a message that was told here.
func (l *lane) told(of letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(of)
}

// take sends a letter on, or keeps it. mu is held.
func (l *lane) take(of letter) (here actor.AnyRef) {
	switch {
	case l.closed != nil:
		l.region.drop(of, l.closed)
	case l.gone():
		l.region.drop(of, ErrNoDaemon)
	case l.buffer.Clear():
		return l.send(of)
	case l.full():
		l.region.drop(of, ErrBufferFull)
	default:
		of.Described = of.Hold()
		l.buffer.Hold(of)
		l.region.held.Add(1)
		l.explain(of)
	}
	return here
}

// full reports whether there is no room for another letter, after those have been dropped that
// nobody waits for any more.
func (l *lane) full() bool {
	if l.buffer.Size() < l.region.set.buffer && l.region.held.Load() < maxHeld {
		return false
	}
	gone := l.buffer.Remove(func(of letter) bool { return of.Withdrawn() })
	for _, of := range gone {
		l.region.held.Add(-1)
		l.region.drop(of, actor.ErrWithdrawn)
	}
	return len(gone) == 0
}

// maxHeld is how many letters the lanes of one type keep at most.
const maxHeld = 100_000

// send sends a letter along the route, which is clear. mu is held.
func (l *lane) send(of letter) (here actor.AnyRef) {
	if route := l.buffer.Route(); route.Kind == recall.ToPeer {
		l.buffer.Sent()
		l.region.sendTo(route.Peer, of)
		return here
	}
	return l.residents.offer(of)
}

// flush sends what can go by now, in order. mu is held.
func (l *lane) flush() {
	for of, ok := l.buffer.Next(); ok; of, ok = l.buffer.Next() {
		l.region.held.Add(-1)
		if !of.Withdrawn() {
			extension.Explain(l.region.system, of.Message, nil) // it does not wait any more
			l.send(of)
		} else {
			l.region.drop(of, actor.ErrWithdrawn)
		}
	}
	l.answer()
}

// arrived takes a letter of another node. If the shard is not here, the letter of a member goes
// back: it is always with one of two nodes. The letters of clients are treated like those that have
// been told here. mu is held.
func (l *lane) arrived(of letter) (here actor.AnyRef) {
	takes := l.residents != nil && l.residents.takes() && !l.back.Due(of.from)
	switch {
	case takes && l.buffer.Clear():
		return l.residents.offer(of)
	case takes && l.region.ofMember(of):
		l.passBy(of)
	case takes || !l.giveBack(of):
		return l.take(of)
	}
	return here
}

// passBy gives a letter of a member to the residents while others wait, unless those may be of the
// same sender. The caller must not remember the ref of the entity: messages that are told here
// would overtake those that wait. mu is held.
func (l *lane) passBy(of letter) {
	if l.passes {
		l.passOn(of)
	} else {
		l.residents.offer(of)
	}
}

// keep takes a letter that has not reached an entity here, before those that have been told since.
// mu is held.
func (l *lane) keep(of letter) {
	if !l.giveBack(of) {
		l.passOn(of)
	}
}

// giveBack returns a letter to its sender, if that is a member, as all later ones until it recalls
// them. mu is held.
func (l *lane) giveBack(of letter) bool {
	if !l.region.giveBack(of) {
		return false
	}
	l.back.Note(of.from)
	return true
}

// passOn keeps a letter that may be of any node, before those that have been told here since. mu is
// held.
func (l *lane) passOn(of letter) {
	of.Described = of.Hold()
	l.buffer.Returned(node.ID{}, of)
	l.passes = true
	l.region.held.Add(1)
	l.explain(of)
}

// asked answers a node that recalls its letters, at once or as soon as none is here.
func (l *lane) asked(by node.ID, q recallOf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asks == nil {
		l.asks = map[node.ID]recallOf{}
	}
	l.asks[by] = q
	l.back.Recalled(by.Incarnation, q.Number)
	l.answer()
}

// answer answers those that recall their letters, unless some may still be here or on their way
// from here to another node. mu is held.
func (l *lane) answer() {
	if l.former != nil && l.former.ended && len(l.former.all) == 0 {
		l.former = nil
	}
	l.passes = l.passes && !l.buffer.Settled()
	switch {
	case len(l.asks) == 0 || l.former != nil && !l.former.takes():
	case l.passes && l.buffer.Size() == 0: // the next home says whether it has taken them
		l.recallIf(l.buffer.RecallFrom(l.buffer.SentTo()))
	case !l.passes:
		for by, q := range l.asks {
			l.region.hub.send(by, toHub{Passed: &q})
		}
		l.asks = nil
	}
}

// returned takes a letter of ours that another node does not take.
func (l *lane) returned(from node.ID, of letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.Described = of.Hold()
	extension.FollowNobody(l.region.system, of.Message)
	_, raise := l.buffer.Returned(from, of)
	l.region.held.Add(1)
	l.recallIf(raise)
	l.flush()
}

// recallIf asks the node that may have letters of ours to return them.
func (l *lane) recallIf(raise bool) {
	if raise {
		to, number, _ := l.buffer.Recall()
		l.region.recallFrom(to, l.shard, number)
	}
}

// recalled notes that a node has returned all letters of ours.
func (l *lane) recalled(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch taken := l.buffer.Recalled(number); {
	case taken:
		l.passes = false
	case l.passes: // else they would go back and forth
		l.buffer.Refuse()
		l.region.hub.retrySoon()
	}
	l.flush()
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
	l.retry.Reset()
	l.back.Keep(func(incarnation uint64) bool {
		_, member := l.region.hub.member(incarnation)
		return member
	})
	l.recallIf(l.buffer.Redirect(l.route()))
	l.flush()
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
func (l *lane) tick(now time.Time, peers peerStates) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to, _, up := l.buffer.Recall()
	waits := up || l.buffer.Refused()
	l.retry.Plan(now, waits)
	if waits && l.retry.Due(now) {
		l.recallIf(l.buffer.TryAgain(now.Sub(l.retry.Since()), peers.lost(to), peers.reachable(to)))
		l.flush()
	}
	return waits
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

// dropHeld makes dead letters of what waits. mu is held.
func (l *lane) dropHeld(why error) {
	for _, of := range l.buffer.Drain() {
		l.region.held.Add(-1)
		l.region.drop(of, why)
	}
}
