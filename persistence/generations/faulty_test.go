package generations_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A faulty journal calls its functions in place of the real operations. They may be nil.
type faulty struct {
	journal.Journal
	claim  func(context.Context, func() (journal.Claim, error)) (journal.Claim, error)
	append func(context.Context, []journal.AppendRequest, func() []error) []error
	delete func(func() error) error
}

func (f *faulty) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	do := func() (journal.Claim, error) { return f.Journal.Claim(ctx, id, w, b) }
	if f.claim == nil {
		return do()
	}
	return f.claim(ctx, do)
}

func (f *faulty) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	do := func() []error { return f.Journal.Append(ctx, reqs) }
	if f.append == nil {
		return do()
	}
	return f.append(ctx, reqs, do)
}

func (f *faulty) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	do := func() error { return f.Journal.DeleteTo(ctx, id, epoch, seq) }
	if f.delete == nil {
		return do()
	}
	return f.delete(do)
}

// A forgetful journal loses the answers of a third of all appends; a third of those appends have no
// effect. It carries out half of the deletions.
func forgetful(j journal.Journal, seed uint64) journal.Journal {
	var mu sync.Mutex // guards random
	random := rand.New(rand.NewPCG(seed, 0))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	return &faulty{
		Journal: j,
		append: func(_ context.Context, _ []journal.AppendRequest, do func() []error) []error {
			switch draw(9) {
			case 0, 1:
				do()
				fallthrough
			case 2:
				return []error{fmt.Errorf("%w: the test has lost it", journal.ErrUnknown)}
			}
			return do()
		},
		delete: func(do func() error) error {
			if draw(2) == 0 {
				return journal.ErrUnknown
			}
			return do()
		},
	}
}

func count(records iter.Seq2[journal.Record, error]) (n int, err error) {
	for _, err := range records {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
