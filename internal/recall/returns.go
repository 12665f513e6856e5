package recall

import "github.com/understudy-go/understudy/remote"

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
