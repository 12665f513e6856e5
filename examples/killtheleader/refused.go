package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// refusedLine is what a node prints when the store has refused a write because of a newer leader.
const refusedLine = "refused"

// A countingJournal prints a line for each event that the journal refuses because a newer leader
// has claimed the ledger.
type countingJournal struct{ *postgres.Journal }

func (j *countingJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.Journal.Append(ctx, reqs)
	for i, err := range errs {
		count(reqs[i], err)
	}
	return errs
}

func (j *countingJournal) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	return j.Journal.AppendAsync(req, func(err error) {
		count(req, err)
		done(err)
	})
}

func count(req journal.AppendRequest, err error) {
	if !errors.Is(err, persistence.ErrFenced) {
		return
	}
	for range req.Records {
		fmt.Println(refusedLine)
	}
}
