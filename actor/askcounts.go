package actor

import (
	"context"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

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
