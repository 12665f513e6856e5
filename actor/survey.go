package actor

import (
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// Backlogs visits each actor: a few milliseconds for 100 000.
func (s internals) Backlogs() (all actorhook.Backlogs) {
	all.Kinds = map[string]actorhook.Backlog{}
	now, handled := metadata.Now(), requestsHandled(&s.scheduler)
	left := append(s.user.childList(), s.system.childList()...)
	for len(left) > 0 {
		c := left[len(left)-1].impl.(*cell) // only cells are children
		found, children := c.survey(now)
		left = append(left[:len(left)-1], children...)
		found.see(handled[&c.core], now)
		if kind := c.tally.counts.of.name; found.Waiting > 0 || found.Oldest > 0 {
			of := all.Kinds[kind]
			all.Kinds[kind] = actorhook.Backlog{Waiting: of.Waiting + found.Waiting, Oldest: max(of.Oldest, found.Oldest)}
		}
		all.Actors = found.among(all.Actors, c)
	}
	return all
}

type surveyed struct {
	actorhook.ActorBacklog
	losses losses
}

// Of what a running turn has taken out of the mailbox it knows what that was some hundred messages
// ago.
func (b *inbox) survey(now time.Duration) (found surveyed, children []*core) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	found.Waiting = int(b.core.waiting)
	switch {
	case b.core.scheduled:
		found.Waiting += int(max(b.tally.drawn, -b.tally.drawn))
	case b.core.suspended:
		found.Waiting += int(b.batched) + b.priorities.size()
		found.see(firstRequest(b, true), now)
	}
	if b.conf.box.overflow == block {
		found.Waiting += b.senders.line.Len()
	}
	if b.core.waiting > 0 {
		found.see(firstRequest(b, false), now)
	}
	if of := b.core.relations; of != nil {
		children = of.children.list()
		if b.core.scheduled && b.tally.drawn < 0 {
			found.seeOne(of.drawn.left(now))
		}
		if of.losses != nil {
			found.losses = *of.losses
		}
	}
	return found, children
}

// r may be nil. Of a request without an end it is not known when it began.
func (f *surveyed) see(r *metadata.Request, now time.Duration) {
	if r != nil {
		f.seeOne(r.Left(now))
	}
}

func (f *surveyed) seeOne(left, all time.Duration, ok bool) {
	if age := all - left; ok && all > 0 && age > f.Oldest {
		f.Oldest, f.Within = age, all
	}
}

// c joins them if it is one of them. Their order is from the most behind on.
func (f *surveyed) among(most []actorhook.ActorBacklog, c *cell) []actorhook.ActorBacklog {
	if f.losses.sum() > 0 {
		f.SinceDropped = time.Since(f.losses.last)
		f.Dropping = f.SinceDropped < actorhook.RecentlyDropped
	}
	excess := f.Excess()
	if excess == 0 || len(most) == actorhook.MostBehind && most[len(most)-1].Excess() >= excess {
		return most
	}
	at, _ := slices.BinarySearchFunc(most, excess, func(other actorhook.ActorBacklog, excess float64) int {
		if other.Excess() >= excess {
			return -1
		}
		return 1
	})
	f.Path, f.Kind, f.Dropped = c.core.path(), c.tally.counts.of.name, f.losses.byReason()
	if len(most) == actorhook.MostBehind {
		most = most[:len(most)-1]
	}
	return slices.Insert(most, at, f.ActorBacklog)
}

func requestsHandled(s *scheduler) map[*core]*metadata.Request {
	all := map[*core]*metadata.Request{}
	s.mu.Lock()
	defer s.mu.Unlock()
	see := func(r *runner) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if request := r.request.Load(); r.at != nil && request != nil {
			all[r.at] = request
		}
	}
	for _, r := range s.runners.all {
		see(r)
	}
	for r := range s.blocked.recent.all {
		see(r)
	}
	for r := range s.blocked.slow.all {
		see(r)
	}
	return all
}

// A drawnRequest is the oldest request that a turn held when it last said how many messages it
// holds.
type drawnRequest struct{ began, all time.Duration }

func (d drawnRequest) left(now time.Duration) (left, all time.Duration, ok bool) {
	return d.all - (now - d.began), d.all, true
}

// sayDrawn does nothing while somebody is at the mailbox. A negative number of messages says that
// the age of the oldest request is known.
func sayDrawn(c *cell) {
	oldest := firstRequest(&c.inbox, true)
	if !c.core.mu.TryLock() {
		return
	}
	defer c.core.mu.Unlock()
	c.tally.drawn = drawn(int(c.batched) + c.priorities.size())
	if oldest == nil {
		return
	}
	now := metadata.Now()
	if left, all, ok := oldest.Left(now); ok && all > 0 {
		c.tally.drawn = -c.tally.drawn
		c.core.ownRelations().drawn = drawnRequest{now + left - all, all}
	}
}

func drawn(messages int) int32 { return int32(min(messages, math.MaxInt32)) }

// In chunks, so that no mailbox is locked for long.
const mostLooked = 4

// The mutex of the mailbox is held. A request behind many other tasks may be overlooked.
func firstRequest(b *inbox, batch bool) *metadata.Request {
	first, _ := b.box.requests(batch, nil, nil)
	return first
}

func requestIn(t task) *metadata.Request {
	switch t := t.(type) {
	case *request:
		return (*metadata.Request)(t)
	case *described:
		return t.metadata.Request()
	}
	return nil
}

// Without wanted it returns the first request of the first chunks that have tasks; otherwise it
// adds those that are wanted to found. The mutex of the mailbox is held.
func (x *box[M]) requests(batch bool, wanted func(*metadata.Request) bool, into []item) (first *metadata.Request, found []item) {
	var k *chunk[M]
	if batch {
		k = x.batch // whose owner calls, or the actor is suspended
	} else {
		if x.cell.core.alone == requestAlone {
			if wanted == nil {
				return x.queue.asked, nil
			}
			if wanted(x.queue.asked) {
				into = append(into, item{msg: x.queue.first, request: x.queue.asked})
			}
		}
		k = x.queue.rest.head
	}
	for looked := 0; k != nil && (wanted != nil || looked < mostLooked); k = k.after {
		for i, t := range k.tasks {
			r := requestIn(t)
			switch {
			case r == nil:
			case wanted == nil:
				return r, nil
			case wanted(r):
				into = append(into, itemOf(k.msgs[i], t))
			}
		}
		if len(k.tasks) > 0 {
			looked++
		}
	}
	return nil, into
}

func (b *inbox) messageType() reflect.Type { return b.conf.kinded.messages }
