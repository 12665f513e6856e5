package placement

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/remote"
)

// A letter is a message to a placed actor, on its way.
type letter struct {
	extension.Described[any]
	from uint64 // the incarnation of the node that sent it here; 0 for a message that was told here
}

// A lane brings the messages of this node to the actor of one label, wherever it runs. A message is
// taken by the goroutine that sends it. The lane carries out what a [recall.Lane] decides.
type lane struct {
	hub  *hub
	name string              // the escaped label
	ref  actor.ActorRef[any] // so that all refs of the label are equal

	mu      sync.Mutex // guards all below
	label   string
	message reflect.Type // of the refs here; nil before the first
	letters recall.Lane[letter]
	stay    *stay                        // of the actor here; nil if it is not
	at      receptionist.Instance[any]   // the hub of the node where it runs; zero for none
	known   map[actor.ActorRef[any]]bool // all hubs that were listed
	reached bool                         // letters have gone to the actor
	away    time.Time                    // when this node learnt that they cannot any more; zero while they can
	closed  error                        // why no letter is taken any more; nil while they are
}

func newLaneOf(h *hub, name string) *lane {
	l := &lane{hub: h, name: name, label: name, ref: h.refs(name)}
	l.letters = recall.NewLane[letter](outlet{l})
	return l
}

func (l *lane) key() receptionist.ServiceKey[any] {
	return receptionist.NewKey[any](shardtree.Placed + "/" + l.name)
}

// use notes that the label is used with messages of a type. It returns an error if it has been used
// with another one.
func (l *lane) use(label string, message reflect.Type) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.message != nil && l.message != message {
		return fmt.Errorf("placement: %q is used with messages of type %v on this node, and cannot take %v too; give it another label", label, l.message, message)
	}
	l.label, l.message = label, message
	return nil
}

// enter takes a letter that has come from an actor here, or from another node.
func (l *lane) enter(of letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		l.drop(of, l.closed)
		return
	}
	if from, _ := l.hub.post.Member(of.from); from != (remote.NodeID{}) {
		l.letters.Arrived(from, of)
	} else if l.letters.Take(of) {
		l.makeRoom()
	}
}

// makeRoom drops the requests of asks that have ended, and then the oldest letters. mu is held.
func (l *lane) makeRoom() {
	if l.letters.Size() > maxHeld {
		l.dropAll(l.letters.Sweep(letter.Withdrawn), actor.ErrWithdrawn)
		for _, of := range l.letters.Shrink(maxHeld) {
			l.drop(of, fmt.Errorf("%w: %w", ErrBufferFull, l.unavailable()))
		}
	}
}

// An outlet carries out what a [recall.Lane] decides. mu of the lane is held.
type outlet struct{ *lane }

func (o outlet) Deliver(of letter) {
	if err := o.stay.deliver(of); err != nil {
		o.drop(of, err)
	}
}

func (o outlet) Send(to remote.NodeID, of letter) {
	if of.from == 0 && of.Metadata.Request() != nil {
		o.hub.post.Follow(to, of.Message)
	}
	extension.SendTo(o.hub.system, extension.Target{
		Address: to.Address, Path: o.path(), UID: o.hub.post.Self().Incarnation, Full: o.hub.scheme + o.path(),
	}, of.Message, of.Metadata)
}

func (o outlet) Return(to remote.NodeID, of letter) {
	payload, err := extension.PackMessage(of.Message)
	if err != nil {
		o.drop(of, err)
		return
	}
	o.hub.post.Send(to, hubs.Message{Return: &hubs.Letter{Path: o.path(), Payload: payload}}, of.Metadata)
}

func (o outlet) Recall(number uint64, from remote.NodeID) {
	o.hub.post.Send(from, hubs.Message{Recall: &hubs.Recall{Of: o.name, Number: number}}, extension.Metadata{})
	o.hub.post.RetrySoon()
}

func (o outlet) Passed(number uint64, to remote.NodeID) {
	o.hub.post.Send(to, hubs.Message{Passed: &hubs.Recall{Of: o.name, Number: number}}, extension.Metadata{})
}

// Hold tells the ask of the letter why that waits.
func (o outlet) Hold(of letter) letter {
	of.Described = of.Hold()
	extension.Explain(o.hub.system, of.Message, o.unavailable())
	return of
}

func (o outlet) Pass(of letter) bool {
	if of.Withdrawn() {
		o.drop(of, actor.ErrWithdrawn)
		return false
	}
	// The ask keeps the reason that it was told: if it ends soon after, that wait took most of its
	// time.
	return true
}

// asked answers a node that recalls its letters.
func (l *lane) asked(by remote.NodeID, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.letters.Asked(by, number)
}

// returned takes a letter of ours that another node does not take.
func (l *lane) returned(from remote.NodeID, of letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	extension.FollowNobody(l.hub.system, of.Message)
	l.letters.Returned(from, of)
	l.note()
	extension.Explain(l.hub.system, of.Message, l.unavailable()) // an ask of another node cannot know
}

// passed takes the answer to a recall.
func (l *lane) passed(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.letters.Passed(number)
	l.note()
}

// listed follows the hubs that have the actor. For a moment both an actor and its successor may be
// listed; then the one counts that can be reached, and then the one that was listed last.
func (l *lane) listed(all []receptionist.Instance[any]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, best := map[actor.ActorRef[any]]bool{}, receptionist.Instance[any]{}
	for i, each := range all {
		known[each.Ref] = true
		if i == 0 || l.prefers(each, best) {
			best = each
		}
	}
	l.at, l.known = best, known
	l.rerouteHeld()
}

func (l *lane) prefers(a, b receptionist.Instance[any]) bool {
	if a.Reachable != b.Reachable {
		return a.Reachable
	}
	if l.known[a.Ref] != l.known[b.Ref] {
		return !l.known[a.Ref]
	}
	return a.Ref == l.at.Ref
}

func (l *lane) reroute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rerouteHeld()
}

// rerouteHeld is reroute for a caller that holds mu.
func (l *lane) rerouteHeld() {
	l.letters.Viewed(l.hub.member)
	l.letters.Redirect(l.route())
	l.letters.Flush()
	l.note()
}

// note notes since when letters have to wait. A node that has never reached the actor cannot
// say when it was lost.
func (l *lane) note() {
	switch {
	case l.letters.Clear():
		l.reached, l.away = true, time.Time{}
	case l.reached && l.away.IsZero():
		l.away = time.Now()
	}
}

func (l *lane) route() recall.Route {
	if l.stay != nil {
		return recall.Route{Kind: recall.ToInstance}
	}
	if at, found := l.hub.post.At(l.at.Node); found && !l.at.Local {
		return recall.Route{Kind: recall.ToPeer, Peer: at}
	}
	return recall.Route{}
}

// tick tries again what may have been lost. It reports whether it must be called again.
func (l *lane) tick(peers hubs.Peers) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more = l.letters.Waits(); more {
		l.letters.Tick(peers.Now, peers)
		l.letters.Flush()
		l.note()
	}
	return more
}

// close makes dead letters of what waits.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = ErrUnavailable
	l.dropAll(l.letters.Drain(), ErrUnavailable)
}

func (l *lane) path() string { return tree + l.name }

func (l *lane) drop(of letter, why error) {
	extension.DeadLetter(l.hub.system, l.hub.scheme+l.path(), of.Message, why)
}

func (l *lane) dropAll(all []letter, why error) {
	for _, of := range all {
		l.drop(of, why)
	}
}

// unavailable returns why letters do not reach the actor now, as far as this node knows it, or nil.
// mu is held.
func (l *lane) unavailable() error {
	why := "runs on no node that is known here"
	switch elsewhere := l.at.Node != "" && !l.at.Local; {
	case l.letters.Clear():
		return nil
	case l.letters.Route() != recall.Route{}:
		why = "waits for the messages that its former node returns"
	case elsewhere:
		why = fmt.Sprintf("runs on %s, which cannot be reached; it moves when that node is removed", l.at.Node)
	}
	return fmt.Errorf("%w: %q %s%s", ErrUnavailable, l.label, why, l.hub.outage(l.away))
}
