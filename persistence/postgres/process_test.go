package postgres_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/journalhistory"
	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
)

func startChild(t *testing.T, role string, j *handle) *processes.Child {
	t.Helper()
	return processes.Start(t, role, j.url, j.schema, "x")
}

func payloads(t testing.TB, j journal.Journal, id string) []string {
	t.Helper()
	got := []string{}
	for r, err := range j.Read(t.Context(), id, 1, 1<<63) {
		require.NoError(t, err)
		got = append(got, string(r.Payload))
	}
	return got
}

func TestManyProcessesMayMakeTheTablesAtOnce(t *testing.T) {
	s := pgtest.Shared(t)
	j := &handle{url: s.URL(), schema: "made by many " + t.Name()}
	var all []*processes.Child
	for range 6 {
		all = append(all, startChild(t, "claim once", j))
	}
	epochs := map[string]bool{}
	for _, c := range all {
		epochs[c.Line()] = true
		c.Finish()
	}
	require.Len(t, epochs, len(all))
}

func TestManyProcessesMigrateOldTablesOnce(t *testing.T) {
	s := pgtest.Shared(t)
	schema := makeGolden(t, s, 1)
	processes.Migrate(t, 6, func(role, id string) *processes.Child { return processes.Start(t, role, s.URL(), schema, id) }, func() {
		j, err := openLater(t.Context(), s.URL(), schema, zap.NewNop())
		require.NoError(t, err)
		journalhistory.Require(t, j)
		require.NoError(t, j.Close())
	})
}

func TestTwoProcessesTakeOneIDFromEachOther(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	processes.Storm(t, j, "x", func(role string) *processes.Child { return startChild(t, role, j) })
}

// Data acknowledged before kill -9 is there afterwards, and the head matches the events.
func TestAKilledWriterLosesNothingThatWasAcknowledged(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	var acked []string
	for round := range 10 {
		c := startChild(t, "append for ever", j)
		for range 1 + rand.IntN(100) {
			acked = append(acked, c.Line())
		}
		c.Signal(syscall.SIGKILL)
		acked = append(acked, c.Rest()...)
		c.Kill()

		claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		got := payloads(t, j, "x")
		require.Len(t, got, int(claim.LastSeq), "the head fits the events")
		require.GreaterOrEqual(t, len(got), len(acked))
		require.LessOrEqual(t, len(got), len(acked)+1, "round %d: at most the one under way is there unacknowledged", round)
		require.Subset(t, got, acked)
		acked = got
	}
}

func TestAStoppedWriterIsFencedWhenItGoesOn(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	c := startChild(t, "storm", j)
	first := c.Line()
	c.Signal(syscall.SIGSTOP)
	o, err := own(j, "x")
	require.NoError(t, err, "a stopped process holds no lock")
	require.NoError(t, o.Append(t.Context(), []journal.AppendRequest{o.next()})[0])
	c.Signal(syscall.SIGCONT)
	said := append([]string{first}, c.Finish()...)
	got := payloads(t, j, "x")
	require.Len(t, got, len(said)+1)
	require.Subset(t, got, said)
}

// For a minute: go -C persistence/postgres test -run Fight -v -fight=1m
func TestTwoPausedProcessesThatFightOverAnEntityLeaveOneHistory(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	processes.Fight(t, j, "x", func(role string) *processes.Child { return startChild(t, role, j) })
}

func TestAProcessWithoutFilesIsToldSoAndGoesOn(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	processes.OutOfFiles(t, j, "x", func(role string) *processes.Child { return startChild(t, role, j) })
}

// The server is killed in the middle of appends, several times. A writer without an answer sends
// the same request again, and in the end each event is there once.
func TestAKilledServerLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	for _, settings := range [][]string{
		{"synchronous_commit=on"},
		// Committed data stays in memory for up to 30 s, unless the journal prevents it.
		{"synchronous_commit=off", "wal_writer_delay=10000", "wal_writer_flush_after=0"},
	} {
		t.Run(settings[0], func(t *testing.T) {
			s := pgtest.Start(t, settings...)
			j := open(t, s)
			const writers = 8
			running, stop := context.WithCancel(t.Context())
			defer stop()
			type outcome struct {
				events, unknown int
				err             error
			}
			outcomes := make(chan outcome, writers)
			for i := range writers {
				go func() {
					var o outcome
					o.events, o.unknown, o.err = appendThroughOutages(running, j, string(rune('a'+i)))
					outcomes <- o
				}()
			}
			for range 4 {
				time.Sleep(100*time.Millisecond + rand.N(200*time.Millisecond)) // real time: a real server is at work
				s.Kill(t)
				s.Run(t)
			}
			stop()
			var sum outcome
			for range writers {
				o := <-outcomes
				require.NoError(t, o.err)
				sum.events, sum.unknown = sum.events+o.events, sum.unknown+o.unknown
			}
			t.Logf("%d events acknowledged, %d answers lost", sum.events, sum.unknown)
			require.Positive(t, sum.events)
			total := 0
			for i := range writers {
				total += len(payloads(t, j, string(rune('a'+i))))
			}
			require.Equal(t, sum.events, total)
		})
	}
}

// appendThroughOutages appends to id until running is done, and settles the last event too. It
// checks that the journal then has the acknowledged events.
func appendThroughOutages(running context.Context, j journal.Journal, id string) (events, unknown int, err error) {
	ctx := context.WithoutCancel(running)
	o := &owner{Journal: j, id: id}
	if _, err = retry(o.reclaim); err != nil {
		return 0, 0, err
	}
	for running.Err() == nil {
		req := o.next()
		lost, err := retry(func() error { return j.Append(ctx, []journal.AppendRequest{req})[0] })
		unknown += lost
		if err != nil {
			return events, unknown, err
		}
		events++
		o.claim.LastSeq++
	}
	return events, unknown, nil
}

// retry calls f until it has a definite answer, and counts the unknown answers.
func retry(f func() error) (unknown int, err error) {
	for {
		if err = f(); errors.Is(err, journal.ErrUnknown) {
			unknown++
		} else if !errors.Is(err, journal.ErrUnavailable) {
			return unknown, err
		}
		time.Sleep(5 * time.Millisecond) // as a writer would wait for a server to come back
	}
}
