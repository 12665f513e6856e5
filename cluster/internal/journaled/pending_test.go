package journaled

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func size(s string) int { return len(s) }

func TestAStepIsStoredInAppendsOfBoundedSize(t *testing.T) {
	var p Pending[string, int]
	for i := range 100 {
		p.Add([]string{fmt.Sprintf("%03d", i) + strings.Repeat(" ", 64<<10)}, []int{i})
	}
	n, appends := 0, 0
	for done := false; !done; appends++ {
		batch, total := p.Batch(1<<20, size), 0
		for _, f := range batch {
			require.Equal(t, fmt.Sprintf("%03d", n), f[:3])
			total += len(f)
			n++
		}
		require.LessOrEqual(t, total, 1<<20)
		var effects []int
		effects, done = p.Stored(len(batch))
		require.Equal(t, done, len(effects) == 100, "nothing is done before all is durable")
	}
	require.Equal(t, 100, n)
	require.InDelta(t, 7, appends, 1)
	require.False(t, p.Any())
	p.Add([]string{strings.Repeat(" ", 2<<20)}, nil)
	require.Len(t, p.Batch(1<<20, size), 1, "one fact is one append, whatever its size")
}

// forgiving does without facts that begin with a question mark.
type forgiving struct{}

func (forgiving) Refused(f string, _ error, effects []int, _ time.Time) ([]string, []int, bool) {
	return []string{"not " + f}, effects[1:], f[0] == '?'
}

func TestAJournalThatRefusesWhatMustBeStoredEndsTheCoordinator(t *testing.T) {
	refused := func(fact string, n int, why error, by Refuser[string, int]) (Pending[string, int], bool) {
		var p Pending[string, int]
		p.Add([]string{fact, "next"}, []int{1, 2})
		ok := p.Refused(n, why, by, time.Time{})
		return p, ok
	}
	_, ok := refused("!", 1, persistence.ErrTooLarge, forgiving{})
	require.False(t, ok, "it is needed")
	_, ok = refused("?", 1, persistence.ErrTooLarge, nil)
	require.False(t, ok, "all are needed")
	_, ok = refused("?", 1, fmt.Errorf("append: %w", persistence.ErrConflict), forgiving{})
	require.False(t, ok, "whatever is in it")
	_, ok = refused("?", 0, errors.New("it is closed"), forgiving{})
	require.False(t, ok)
	p, ok := refused("?", 1, persistence.ErrInvalid, forgiving{})
	require.True(t, ok)
	require.Equal(t, []string{"next", "not ?"}, p.Batch(100, size))
	effects, done := p.Stored(2)
	require.True(t, done)
	require.Equal(t, []int{2}, effects)
	p, ok = refused("?", 2, persistence.ErrInvalid, forgiving{})
	require.True(t, ok)
	require.Equal(t, []string{"?"}, p.Batch(100, size), "one at a time shows the culprit")
}
