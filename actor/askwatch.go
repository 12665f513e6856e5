package actor

import (
	"context"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

type askWatcher interface {
	watcher
	number() uint64 // of the ref to reply to: earlier asks have smaller ones
}

// An askWatch is an element of the list of an asked actor: adding and removing it allocates
// nothing. The zero value watches nothing. Nothing changes of and by after begin; the mutex of the
// asked core guards the rest.
type askWatch struct {
	of     *core // the asked core; nil before begin
	by     askWatcher
	before *askWatch // nil: it is in no list
	after  *askWatch
}

// begin returns false if the actor has ended.
func (w *askWatch) begin(asked *core, by askWatcher) bool {
	target := asked.actor()
	if far, remote := target.impl.(*remoteActor); remote && far.sendTo.Path == askPath {
		target = &far.sys.remotes.shared(far).core // where the end of its node is told
	}
	w.of, w.by = target, by
	return target.addAsk(w)
}

// Any goroutine may call it.
func (w *askWatch) end() {
	if w.of != nil {
		w.of.removeAsk(w)
	}
}

// The zero value is empty.
type askWatches struct{ head askWatch }

func (l *askWatches) add(w *askWatch) {
	w.before, w.after = &l.head, l.head.after
	if w.after != nil {
		w.after.before = w
	}
	l.head.after = w
}

func (w *askWatch) remove() {
	if w.before == nil {
		return
	}
	w.before.after = w.after
	if w.after != nil {
		w.after.before = w.before
	}
	w.before, w.after = nil, nil
}

func (l *askWatches) takeAll(all []watcher) []watcher {
	for w := l.head.after; w != nil; w = l.head.after {
		w.remove()
		all = append(all, w.by)
	}
	return all
}

func (g *guarded) takeAsks(which func(number uint64) bool) (taken []watcher) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations == nil {
		return nil
	}
	for w := g.relations.asks.head.after; w != nil; {
		next := w.after
		if which(w.by.number()) {
			w.remove()
			taken = append(taken, w.by)
		}
		w = next
	}
	return taken
}

// addAsk returns false if the actor has ended.
func (g *guarded) addAsk(w *askWatch) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	g.ownRelations().asks.add(w)
	return true
}

func (g *guarded) removeAsk(w *askWatch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.remove()
}

type askOutcome int

const (
	askReplied askOutcome = iota
	askTimedOut
	askUnanswered // its request has been handled, but there was no reply in time
	askTerminated
	askUnreachable
	askFailed  // the handler of its request has
	askRefused // nothing replies, because a message became a dead letter
	askOther   // the context was cancelled, or the asking actor ended
	askOutcomes
)

var askOutcomeNames = [askOutcomes]string{"replied", "timed_out", "unanswered", "terminated", "unreachable", "failed", "refused", "other"}

func outcomeOf(err error) askOutcome {
	switch {
	case err == nil:
		return askReplied
	case guard.Is(err, context.DeadlineExceeded): // first: it may wrap a reason as well
		if guard.Is(err, errHandledSilent) {
			return askUnanswered
		}
		return askTimedOut
	case guard.Is(err, ErrHandlerFailed):
		return askFailed
	case guard.Is(err, context.Canceled), guard.Is(err, ErrStaleHandler), isPanic(err):
		return askOther
	case guard.Is(err, ErrUnreachable):
		return askUnreachable
	case guard.Is(err, ErrTerminated):
		return askTerminated
	}
	return askRefused
}

func isPanic(err error) bool {
	_, yes := guard.As[*guard.PanicError](err)
	return yes
}

// askCounts are in several sets, so that processors seldom write to the same one.
type askCounts [8]struct {
	ended [askOutcomes]atomic.Uint64
}

// Asks of one actor count in one set, as they share its mailbox anyway.
func (c *askCounts) count(asked uint64, err error) {
	c[asked%uint64(len(c))].ended[outcomeOf(err)].Add(1)
}

func (s internals) AskOutcomes() (all []actorhook.AskCount) {
	for outcome, name := range askOutcomeNames {
		sum := actorhook.AskCount{Outcome: name}
		for i := range s.asks {
			sum.Count += s.asks[i].ended[outcome].Load()
		}
		all = append(all, sum)
	}
	return all
}
