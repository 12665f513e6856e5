package generations

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/persistence/journal"
)

// settle applies the requests atomically, one after the other, and returns their answers. If it
// returns an error, the requests may or may not have taken effect.
func (l *log) settle(ctx context.Context, batch []*request) ([]error, error) {
	fresh := false // the ledger was read after the requests were made
	for attempt := 0; ; {
		changed, answers := l.try(batch)
		switch {
		case len(changed) == 0 && fresh:
			return answers, nil
		case len(changed) == 0:
			if err := l.catchUp(ctx, math.MaxUint64, ignore); err != nil {
				return nil, err
			}
			fresh = true
		case l.epoch == 0:
			if err := l.claim(ctx, ignore); err != nil {
				return nil, err
			}
			fresh = true
		default:
			if stored, err := l.add(ctx, changed); stored || err != nil {
				return answers, err
			}
			if attempt > 0 { // at the first attempt another source has merely written; from the second on the two compete
				if err := pause.For(ctx, takeover.Delay(attempt-1)); err != nil {
					return nil, err
				}
			}
			attempt++
			fresh = false
		}
	}
}

// try applies the requests to a copy of the ledger.
func (l *log) try(batch []*request) (changed []entry, answers []error) {
	s := l.ledger.staged()
	for _, r := range batch {
		err := r.ctx.Err()
		if err == nil {
			err = r.apply(s)
		}
		answers = append(answers, err)
	}
	return slices.Collect(maps.Values(s.changed)), answers
}

func ignore(journal.Record) {}
