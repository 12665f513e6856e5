package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// checked returns a journal with events and snapshots of two ids.
func checked(t *testing.T) *Journal {
	t.Helper()
	j := openTest(t)
	for _, id := range []string{"x", "y"} {
		claim := appendSome(t, j, id, 5)
		for _, seq := range []uint64{2, 4} {
			require.NoError(t, j.SaveSnapshot(t.Context(), id, journal.Snapshot{Seq: seq, Epoch: claim.Epoch, Type: "state", Payload: []byte("s")}))
		}
		require.NoError(t, j.DeleteTo(t.Context(), id, claim.Epoch, 1))
	}
	return j
}

func TestASoundJournalPassesTheCheck(t *testing.T) {
	require.NoError(t, openTest(t).Check(t.Context()))
	require.NoError(t, checked(t).Check(t.Context()))
}

func TestTheCheckNamesWhatIsDamaged(t *testing.T) {
	const ofY = "eid = (SELECT id FROM entity WHERE pid = 'y')"
	for statement, says := range map[string]string{
		"UPDATE event SET payload = x'00' WHERE seq = 3":        `read "x": persistence: stored data is damaged: record 3`,
		"UPDATE event SET type = 'other' WHERE seq = 5":         `read "y": persistence: stored data is damaged: record 5`,
		"DELETE FROM event WHERE seq = 3":                       "record 3 is missing",
		"DELETE FROM event WHERE seq = 5":                       "record 5 is missing",
		"UPDATE entity SET seq = 9 WHERE pid = 'y'":             `read "y": persistence: stored data is damaged: the head record`,
		"UPDATE snapshot SET payload = x'00' WHERE seq = 4":     `load snapshot "x": persistence: stored data is damaged: snapshot 4`,
		"UPDATE event SET eid = 77 WHERE seq = 5 AND " + ofY:    `events of no persistence id: "77"`,
		"UPDATE snapshot SET eid = 77 WHERE seq = 4 AND " + ofY: `snapshots of no persistence id: "77"`,
		"UPDATE event SET seq = 6 WHERE seq = 5":                `events after the last: "x"`,
		"UPDATE snapshot SET seq = 6 WHERE seq = 4":             `snapshots after the last event: "x"`,
		"DELETE FROM event WHERE seq = 5 AND " + ofY:            `tags of no event: "red"`,
	} {
		j := checked(t)
		alter(t, pathOf(j), statement)
		err := j.Check(t.Context())
		require.ErrorIs(t, err, journal.ErrCorrupt, statement)
		require.ErrorContains(t, err, says, statement)
	}
}

// Each error about damage names Check, which finds all damage.
func TestAnErrorOfDamageNamesTheCheck(t *testing.T) {
	for statement, call := range map[string]func(*Journal) error{
		"UPDATE event SET payload = x'00' WHERE seq = 3": func(j *Journal) error {
			_, err := readAll(t, j, "x")
			return err
		},
		"DELETE FROM event WHERE seq = 4": func(j *Journal) error {
			_, err := readAll(t, j, "x")
			return err
		},
		"UPDATE event SET type = 'other' WHERE seq = 5": func(j *Journal) error {
			for _, err := range j.Events(t.Context(), journal.Query{}, "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"UPDATE entity SET seq = 9": func(j *Journal) error {
			_, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
			return err
		},
		"UPDATE entity SET epoch = 9": func(j *Journal) error {
			return j.Append(t.Context(), []journal.AppendRequest{some("x", 1, 5, 1)})[0]
		},
	} {
		j := checked(t)
		alter(t, pathOf(j), statement)
		err := call(j)
		require.ErrorIs(t, err, journal.ErrCorrupt, statement)
		require.ErrorContains(t, err, "Journal.Check", statement)
		require.NotContains(t, j.Check(t.Context()).Error(), "Journal.Check", "it has been called")
	}
}

func TestTheCheckReportsNoMoreThanAHundredFaults(t *testing.T) {
	j := openTest(t)
	for i := range 2 * maxFindings {
		appendSome(t, j, fmt.Sprint(i), 1)
	}
	alter(t, pathOf(j), "UPDATE event SET payload = x'00'")
	err := j.Check(t.Context())
	joined, ok := err.(interface{ Unwrap() error }).Unwrap().(interface{ Unwrap() []error })
	require.True(t, ok)
	require.Len(t, joined.Unwrap(), maxFindings)
}

func TestAJournalInUseIsNotTakenForDamaged(t *testing.T) {
	j := openTest(t)
	claim := appendSome(t, j, "x", 1)
	var enough atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for seq := uint64(1); !enough.Load(); seq += 600 {
			if err := j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, seq, 600)})[0]; err != nil {
				t.Error(err)
			}
			if err := j.DeleteTo(t.Context(), "x", claim.Epoch, seq); err != nil {
				t.Error(err)
			}
		}
	})
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; {
		require.NoError(t, j.Check(t.Context()))
	}
	enough.Store(true)
	writer.Wait()
}

func TestACheckThatCannotLookDoesNotCallItDamage(t *testing.T) {
	j := checked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := j.Check(ctx)
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
	require.NoError(t, j.Close())
	err = j.Check(t.Context())
	require.Error(t, err)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
}
