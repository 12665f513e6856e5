package recall

// Returns are the senders that get back all their messages: one has gone back to them, and they
// have not recalled the others since. Although an instance may be here again meanwhile, it must not
// have a message that was sent after one that has gone back. The zero Returns has none.
type Returns[K comparable] struct {
	senders map[K]returning
}

type returning struct {
	back   bool
	number uint64 // of its last recall
}

// Note notes that a message goes back.
func (r *Returns[K]) Note(to K) {
	if r.senders == nil {
		r.senders = map[K]returning{}
	}
	r.senders[to] = returning{true, r.senders[to].number}
}

// Due reports whether a message must go back.
func (r *Returns[K]) Due(to K) bool { return r.senders[to].back }

// Recalled notes a recall. A repeated one says nothing: it may have been overtaken by messages.
func (r *Returns[K]) Recalled(by K, number uint64) {
	if r.senders == nil {
		r.senders = map[K]returning{}
	}
	of := r.senders[by]
	r.senders[by] = returning{of.back && of.number == number, number}
}

// Keep forgets the senders for which member is false.
func (r *Returns[K]) Keep(member func(K) bool) {
	for sender := range r.senders {
		if !member(sender) {
			delete(r.senders, sender)
		}
	}
}
