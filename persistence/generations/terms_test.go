package generations_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/generation"
)

func TestTermsOfAJournalGrowBeyondTheFloorAndWithEveryCall(t *testing.T) {
	j := journal.NewMemory()
	first, second := generations.NewJournal(j), generations.NewJournal(j)
	for i, step := range []struct {
		source      *generations.Journal
		floor, want uint64
	}{{first, 0, 1}, {second, 0, 2}, {first, 7, 8}, {second, 3, 9}} {
		g, err := step.source.ClaimTerm(t.Context(), "a", "node", step.floor)
		require.NoError(t, err)
		require.Equal(t, generation.Generation{Term: step.want}, g, "step %d", i)
	}
	g, err := second.ClaimTerm(t.Context(), "b", "node", 0)
	require.NoError(t, err)
	require.Equal(t, uint64(1), g.Term, "each name has its own")
}

// A hundred claims made at once get the terms from 1 to 100.
func TestAHundredAtOnceGetAHundredTerms(t *testing.T) {
	source := generations.NewJournal(journal.NewMemory())
	terms := make([]uint64, 100)
	errs := make([]error, 100)
	var all sync.WaitGroup
	for i := range terms {
		all.Go(func() {
			g, err := source.ClaimTerm(t.Context(), "one", "node", 0)
			terms[i], errs[i] = g.Term, err
		})
	}
	all.Wait()
	slices.Sort(terms)
	for i, term := range terms {
		require.NoError(t, errs[i])
		require.Equal(t, uint64(i+1), term)
	}
}

// If a journal fails or hangs, the caller gets an error before its context ends, and a later call
// gets a term.
func TestATermThatCannotBeHadIsAnErrorAndAskedForAgain(t *testing.T) {
	failures := 1
	source := generations.NewJournal(&faulty{
		Journal: journal.NewMemory(),
		claim: func(_ context.Context, do func() (journal.Claim, error)) (journal.Claim, error) {
			if failures--; failures >= 0 {
				return journal.Claim{}, journal.ErrUnavailable
			}
			return do()
		},
	})
	_, err := source.ClaimTerm(t.Context(), "one", "node", 0)
	require.ErrorIs(t, err, journal.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = source.ClaimTerm(ctx, "one", "node", 0)
	require.ErrorIs(t, err, context.Canceled)
	g, err := source.ClaimTerm(t.Context(), "one", "node", 0)
	require.NoError(t, err)
	require.NotZero(t, g.Term)
}

// A term beyond 32 bits is refused. A long name and a floor far ahead are not.
func TestTermsThatNoSourceCanGiveAreAnOverflow(t *testing.T) {
	source := generations.NewJournal(journal.NewMemory())
	for _, floor := range []uint64{math.MaxUint32, math.MaxInt64, math.MaxUint64} {
		_, err := source.ClaimTerm(t.Context(), "one", "node", floor)
		require.ErrorIs(t, err, generation.ErrOverflow)
	}
	g, err := source.ClaimTerm(t.Context(), strings.Repeat("x", 250), "node", 0)
	require.NoError(t, err)
	require.Equal(t, uint64(1), g.Term)
	simple := generations.NewJournal(struct{ journal.Journal }{journal.NewMemory()})
	g, err = simple.ClaimTerm(t.Context(), "one", "node", 5)
	require.NoError(t, err)
	require.Equal(t, uint64(6), g.Term)
}
