package recall

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"
)

// Leftovers are the messages that an instance had not handled when it ended. Their senders are not
// known any more. They wait on its node for the next instance, which takes no other message before
// it has them: so none of a sender is overtaken by a later one, however often the instance moves.
// The node of the next instance asks those of the former ones for them.
type Leftovers[M any] struct {
	out        LeftoversOutlet[M]
	left       []M
	generation uint64                   // of the last instance here
	former     map[remote.NodeID]bool   // nodes that may have some for it
	heirs      map[remote.NodeID]uint64 // nodes that have asked, with the generations of their instances
	retry      RetryTimer               // of the questions to former nodes
}

// A LeftoversOutlet carries out what [Leftovers] decide. Generations only rise.
type LeftoversOutlet[M any] interface {
	Fetch(generation uint64, from remote.NodeID) // asks a former node for what it has
	Give(to remote.NodeID, msg M)                // to the node that has asked
	Given(generation uint64, to remote.NodeID)   // that was all
}

// NewLeftovers returns the leftovers on a node that has none.
func NewLeftovers[M any](out LeftoversOutlet[M]) Leftovers[M] {
	return Leftovers[M]{out: out}
}

// Keep keeps a message of the last instance here, or one that a former node has given.
func (l *Leftovers[M]) Keep(msg M) { l.left = append(l.left, msg) }

// Size returns how many messages are here.
func (l *Leftovers[M]) Size() int { return len(l.left) }

// Take takes out all messages, for an instance here that is [Leftovers.Ready].
func (l *Leftovers[M]) Take() []M {
	all := l.left
	l.left = nil
	return all
}

// Outlived reports whether the last instance here is of an earlier generation.
func (l *Leftovers[M]) Outlived(generation uint64) bool { return l.generation < generation }

// Fetch asks former nodes, for an instance that is to begin here.
func (l *Leftovers[M]) Fetch(generation uint64, former []remote.NodeID) {
	if l.generation = generation; l.former == nil {
		l.former = map[remote.NodeID]bool{}
	}
	for _, id := range former {
		l.former[id] = true
		l.out.Fetch(generation, id)
	}
	l.give()
}

// Ready reports whether the instance here can begin: all former nodes have answered.
func (l *Leftovers[M]) Ready() bool { return len(l.former) == 0 }

// Asked takes the question of another node.
func (l *Leftovers[M]) Asked(by remote.NodeID, generation uint64) {
	if l.heirs == nil {
		l.heirs = map[remote.NodeID]uint64{}
	}
	l.heirs[by] = max(l.heirs[by], generation)
	l.give()
}

// give answers the nodes that have asked. A node of a later instance has to wait as long as former
// nodes may give something to this one: it would come too late. Nodes only wait for those of
// earlier instances, so none waits for itself.
func (l *Leftovers[M]) give() {
	latest := func(a, b remote.NodeID) int { return cmp.Or(cmp.Compare(l.heirs[b], l.heirs[a]), a.Compare(b)) }
	for _, to := range slices.SortedFunc(maps.Keys(l.heirs), latest) {
		if generation := l.heirs[to]; generation <= l.generation || l.Ready() {
			for generation > l.generation && len(l.left) > 0 {
				l.out.Give(to, l.left[0])
				l.left = l.left[1:]
			}
			delete(l.heirs, to)
			l.out.Given(generation, to)
		}
	}
}

// Given takes the answer of a former node.
func (l *Leftovers[M]) Given(from remote.NodeID, generation uint64) {
	if generation == l.generation {
		delete(l.former, from)
		l.give()
	}
}

// Viewed follows a change of the members. What a node had that is not one any more is lost.
func (l *Leftovers[M]) Viewed(member func(remote.NodeID) bool) {
	maps.DeleteFunc(l.former, func(id remote.NodeID, _ bool) bool { return !member(id) })
	maps.DeleteFunc(l.heirs, func(id remote.NodeID, _ uint64) bool { return !member(id) })
	l.give()
}

// Tick asks again what may have been lost, when it is time. A node that cannot be reached is given
// up, as by a [Lane].
func (l *Leftovers[M]) Tick(now time.Time, peers Peers) {
	l.retry.Plan(now, !l.Ready())
	if !l.retry.Due(now) {
		return
	}
	waited := now.Sub(l.retry.Since())
	maps.DeleteFunc(l.former, func(id remote.NodeID, _ bool) bool { return givesUp(waited, peers.Lost(id), peers.Reachable(id)) })
	l.Fetch(l.generation, slices.SortedFunc(maps.Keys(l.former), remote.NodeID.Compare))
	l.give()
}

// returns are the senders that get back all their messages: one has gone back to them, and they
// have not recalled the others since. Although an instance may be here again meanwhile, it must not
// have a message that was sent after one that has gone back. The zero value has none.
type returns struct {
	senders map[remote.NodeID]returning
	due     int // how many get back all
}

type returning struct {
	back   bool
	number uint64 // of its last recall
}

func (r *returns) set(sender remote.NodeID, of returning) {
	if r.senders == nil {
		r.senders = map[remote.NodeID]returning{}
	}
	r.forget(sender)
	if r.senders[sender] = of; of.back {
		r.due++
	}
}

func (r *returns) forget(sender remote.NodeID) {
	if r.senders[sender].back {
		r.due--
	}
	delete(r.senders, sender)
}

// note notes that a message goes back.
func (r *returns) note(to remote.NodeID) { r.set(to, returning{true, r.senders[to].number}) }

// recalled notes a recall. A repeated one says nothing: it may have been overtaken by messages.
func (r *returns) recalled(by remote.NodeID, number uint64) {
	of := r.senders[by]
	r.set(by, returning{of.back && of.number == number, number})
}

// keep forgets the senders for which member is false.
func (r *returns) keep(member func(remote.NodeID) bool) {
	for sender := range r.senders {
		if !member(sender) {
			r.forget(sender)
		}
	}
}
