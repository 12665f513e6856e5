package projection_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

// adaptNumbers hands over N times an added of 1 for an added of N, and nothing for what is
// poisoned or not registered.
func adaptNumbers(s persistence.StoredEvent) ([]event, error) {
	if s.Type != "projection_test.added" {
		return nil, nil
	}
	var a added
	if err := s.Decode(&a); err != nil {
		return nil, err
	}
	var events []event
	for range a.N {
		events = append(events, added{1})
	}
	return events, nil
}

func TestFromJournalDividesAndLeavesOut(t *testing.T) {
	j, s, offsets := journal.NewMemory(), newSum(), &saves{}
	newWriter(t, j, "a").append(added{2}, poisoned{}, nil, added{0}, added{3}, added{1})
	p := projection.New("sum", j, journal.Query{}, projection.FromJournal(adaptNumbers, projection.AtLeastOnce(offsets, s.handle)),
		projection.InBatches(2, time.Nanosecond))
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a/1", "a/1", "a/5", "a/5", "a/5", "a/6"}, s.handled())
	require.Equal(t, []journal.Offset{"memory:1", "memory:5", "memory:6"}, offsets.saved, "never between those of one stored event")
	require.Zero(t, got.Workers[0].Skipped)
}

func TestWhatCannotBeAdaptedIsAFailureOfItsEvent(t *testing.T) {
	j, s := journal.NewMemory(), newSum()
	newWriter(t, j, "a").append(added{1}, added{2})
	for says, f := range map[string]func(persistence.StoredEvent) ([]event, error){
		"too old": func(persistence.StoredEvent) ([]event, error) { return nil, errors.New("too old") },
		"boom":    func(persistence.StoredEvent) ([]event, error) { panic("boom") },
	} {
		_, err := projection.New("sum", j, journal.Query{}, projection.FromJournal(f,
			projection.AtLeastOnce(&projection.MemoryOffsets{}, s.handle))).CatchUp(t.Context())
		require.ErrorContains(t, err, `event 1 of "a"`)
		require.ErrorContains(t, err, says)
	}
	require.PanicsWithValue(t, `projection "sum": reader and handler must not be nil`, func() {
		projection.New("sum", j, journal.Query{}, projection.FromJournal(adaptNumbers, nil))
	})
}
