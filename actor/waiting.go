package actor

import (
	"context"

	"github.com/understudy-go/understudy/internal/metadata"
)

// mostExplained bounds how many asks at once are told why they wait.
const mostExplained = 1000

// A holder passes what the actor has taken from its mailbox, and has not answered.
type holder func(yield func(msg any, r *metadata.Request) bool)

func (x *inside) Holds(all func(yield func(msg any, r *metadata.Request) bool)) {
	x.cell.core.check("Holds")
	c := x.cell.core.outermost()
	c.own().holds = append(c.holds, all)
}

func explainWaiting(ctx context.Context, why error, inside bool) {
	if c := ownerOf(ctx); c != nil {
		explainAll(&c.outermost().inbox, why, inside)
	}
}

// explainAll tells the asks that wait for the actor why they do, and until why is nil also
// those that come, see explainNew. Outside of a turn it leaves out what only the turn may look at,
// unless the actor is suspended.
func explainAll(b *inbox, why error, inside bool) {
	if !setObstacle(b, why) {
		return
	}
	var held []item
	if inside || b.core.flags.has(notStarted) {
		held = heldBy(b) // what holds them may lock, and tell this actor
	}
	b.core.mu.Lock()
	all := 0
	waiting := requestsOf(b, held, inside || b.core.suspended, func(r *metadata.Request) bool {
		if why == nil {
			return r.Explain(false) && !r.Over()
		}
		if all == mostExplained || r.Over() {
			return false
		}
		r.Explain(true)
		all++
		return true
	})
	b.core.mu.Unlock()
	for i := range waiting {
		internals{b.core.sys}.Explain(messageOf(&waiting[i]), why)
	}
}

// An actor that has started by now is left as it is.
func (r refInternals) ExplainStart(why error) {
	c, ok := r.c.impl.(*cell)
	if !ok {
		return
	}
	b := &c.inbox
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.flags.has(notStarted) { // under the mutex: the end of the start takes it back
		b.core.ownRelations().obstacle = why
		b.refit()
		checkState(&b.core)
	}
}

// changed is false if that has been said already.
func setObstacle(b *inbox, why error) (changed bool) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	was := obstacleOf(&b.core.guarded)
	if was == nil && why == nil || was != nil && why != nil && was.Error() == why.Error() {
		return false
	}
	b.core.ownRelations().obstacle = why
	b.refit()
	checkState(&b.core)
	return true
}

func heldBy(b *inbox) (all []item) {
	for _, held := range b.holds {
		held(func(msg any, r *metadata.Request) bool {
			all = append(all, item{msg: msg, request: r})
			return true
		})
	}
	return all
}

// core.mu is held.
func requestsOf(b *inbox, held []item, all bool, wanted func(*metadata.Request) bool) (found []item) {
	see := func(it item) {
		if r := it.metadata().Request(); r != nil && wanted(r) {
			found = append(found, it)
		}
	}
	for _, it := range held {
		see(it)
	}
	if all {
		_, found = b.box.requests(true, wanted, found)
		if b.priorities != nil {
			for i := range b.priorities.entries {
				see(b.priorities.entries[i].item)
			}
		}
	}
	_, found = b.box.requests(false, wanted, found)
	if b.conf.box.overflow == block {
		for place := b.senders.line.Front(); place != nil; place = place.Next() {
			see(waiterAt(place).item)
		}
	}
	return found
}

func messageOf(it *item) any {
	plain := it.plain()
	if d, ok := plain.task.(*delivered); ok {
		return d.msg
	}
	msg, _ := plain.undelivered()
	return msg
}

// explainNew tells the ask of what comes why it waits. core.mu is held, and released meanwhile. The
// caller calls taken without it, once it has put the item into the mailbox.
func explainNew(b *inbox, it item) (taken func()) {
	why, r := obstacleOf(&b.core.guarded), it.metadata().Request()
	if r == nil || r.Over() {
		return func() {}
	}
	r.Explain(true)
	b.core.mu.Unlock()
	s, msg := internals{b.core.sys}, messageOf(&it)
	s.Explain(msg, why)
	b.core.mu.Lock()
	return func() {
		b.core.mu.Lock()
		over := obstacleOf(&b.core.guarded) == nil // it may have been over before the item was there
		b.core.mu.Unlock()
		if over && r.Explain(false) {
			s.Explain(msg, nil)
		}
	}
}
