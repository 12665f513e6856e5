package failover

import (
	"context"
	"errors"

	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A reportingJournal tells the director when a write is refused because a newer writer
// has claimed the counter.
type reportingJournal struct {
	journals.Journal
	out *reporter
}

// Append implements [persistence.Journal].
func (j *reportingJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.Journal.Append(ctx, reqs)
	for _, err := range errs {
		if errors.Is(err, persistence.ErrFenced) {
			j.out.send(report{Fenced: err.Error()})
		}
	}
	return errs
}
