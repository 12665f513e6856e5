package actor

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// lossReasons are the reasons by which the losses of actors are counted. The first two say that a
// bound has refused the message, the others that its ask had ended or would hardly get an answer in
// time. The last place of what counts by them is for all other reasons.
var lossReasons = [...]error{ErrMailboxFull, ErrStashFull, ErrWithdrawn, ErrOverloaded}

type (
	// core.mu guards them.
	losses struct {
		counts [len(lossReasons) + 1]uint64
		last   time.Time
	}
	kindLosses [len(lossReasons) + 1]atomic.Uint64
)

// reason is one of those under which dead letters are counted.
func (c *cell) lost(reason error) {
	at := slices.Index(lossReasons[:], reason)
	if at < 0 {
		at = len(lossReasons)
	}
	c.tally.counts.of.losses[at].Add(1)
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	of := c.core.ownRelations()
	if of.losses == nil {
		of.losses = new(losses)
	}
	of.losses.counts[at]++
	of.losses.last = time.Now()
}

func (l *losses) sum() (n uint64) {
	for _, count := range l.counts {
		n += count
	}
	return n
}

func (l *losses) byReason() map[string]uint64 {
	all := map[string]uint64{}
	for i, count := range l.counts {
		if count > 0 {
			all[lossReason(i)] = count
		}
	}
	return all
}

func (l *kindLosses) byReason() map[string]uint64 {
	all := map[string]uint64{}
	for i := range l {
		all[lossReason(i)] = l[i].Load()
	}
	return all
}

func lossReason(i int) string {
	if i == len(lossReasons) {
		return actorhook.ReasonText(nil)
	}
	return actorhook.ReasonText(lossReasons[i])
}
