package persistence_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
	"github.com/understudy-go/understudy/singleton"
)

var _ singleton.GenerationSource = (*persistence.GenerationSource)(nil)

func TestTermsOfAJournalGrowBeyondTheFloorAndWithEveryCall(t *testing.T) {
	j := memory.New()
	first, second := persistence.Generations(j), persistence.Generations(j)
	for i, step := range []struct {
		source      *persistence.GenerationSource
		floor, want uint64
	}{{first, 0, 1}, {second, 0, 2}, {first, 7, 8}, {second, 3, 9}} {
		term, err := step.source.NextTerm(t.Context(), "a", step.floor)
		require.NoError(t, err)
		require.Equal(t, step.want, term, "step %d", i)
	}
	term, err := second.NextTerm(t.Context(), "b", 0)
	require.NoError(t, err)
	require.Equal(t, uint64(1), term, "each name has its own")
}

// Case 160: what a hundred ask for at once are the terms from 1 to 100.
func TestAHundredAtOnceGetAHundredTerms(t *testing.T) {
	source := persistence.Generations(memory.New())
	terms := make([]uint64, 100)
	errs := make([]error, 100)
	var all sync.WaitGroup
	for i := range terms {
		all.Go(func() { terms[i], errs[i] = source.NextTerm(t.Context(), "one", 0) })
	}
	all.Wait()
	slices.Sort(terms)
	for i, term := range terms {
		require.NoError(t, errs[i])
		require.Equal(t, uint64(i+1), term)
	}
}

// Cases 158 and 166: a journal that fails or hangs answers an error in the caller's time,
// and a later call has a term.
func TestATermThatCannotBeHadIsAnErrorAndAskedForAgain(t *testing.T) {
	j := &faulty{Journal: memory.New()}
	j.set(hooks{claim: answers(persistence.ErrUnavailable)})
	source := persistence.Generations(struct{ persistence.Journal }{j})
	_, err := source.NextTerm(t.Context(), "one", 0)
	require.ErrorIs(t, err, persistence.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = source.NextTerm(ctx, "one", 0)
	require.ErrorIs(t, err, context.Canceled)
	term, err := source.NextTerm(t.Context(), "one", 0)
	require.NoError(t, err)
	require.NotZero(t, term)
}

func TestTermsThatNoJournalCanGiveAreInvalid(t *testing.T) {
	source := persistence.Generations(memory.New())
	for _, floor := range []uint64{math.MaxInt64, math.MaxUint64} {
		_, err := source.NextTerm(t.Context(), "one", floor)
		require.ErrorIs(t, err, persistence.ErrInvalid)
	}
	_, err := source.NextTerm(t.Context(), strings.Repeat("x", 250), 0)
	require.ErrorIs(t, err, persistence.ErrInvalid)
	require.Panics(t, func() { persistence.Generations(nil) })
}
