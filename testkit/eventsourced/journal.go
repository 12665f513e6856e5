package eventsourced

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

type faultyJournal struct {
	*journal.Memory
	mu     sync.Mutex        // guards all below
	errs   []error           // results of the next appends
	stored map[string]uint64 // the numbers of the last events, by their ids
	tried  int               // appends
}

func newJournal() *faultyJournal {
	return &faultyJournal{Memory: journal.NewMemory(), stored: map[string]uint64{}}
}

func (j *faultyJournal) failNext(errs []error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.errs = append(j.errs, errs...)
}

func (j *faultyJournal) last(id string) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stored[id]
}

func (j *faultyJournal) appends() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.tried
}

func (j *faultyJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tried++
	if len(j.errs) > 0 {
		errs := make([]error, len(reqs))
		for i := range errs {
			errs[i] = j.errs[0]
		}
		j.errs = j.errs[1:]
		return errs
	}
	errs := j.Memory.Append(ctx, reqs)
	for i, r := range reqs {
		if errs[i] == nil && len(r.Records) > 0 {
			j.stored[r.ID] = r.Records[len(r.Records)-1].Seq
		}
	}
	return errs
}
