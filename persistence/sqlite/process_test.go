//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/journalhistory"
	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestManyProcessesMayCreateTheDatabaseAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var all []*processes.Child
	for range 6 {
		all = append(all, processes.Start(t, "claim once", path, "x"))
	}
	epochs := map[string]bool{}
	for _, c := range all {
		epochs[c.Line()] = true
		c.Finish()
	}
	require.Len(t, epochs, len(all))
}

func TestManyProcessesMigrateAnOldFileOnce(t *testing.T) {
	path := goldenFile(t, 1)
	processes.Migrate(t, 6, func(role, id string) *processes.Child { return processes.Start(t, role, path, id) }, func() {
		j, err := openLater(t.Context(), path, zap.NewNop())
		require.NoError(t, err)
		journalhistory.Require(t, j)
		require.NoError(t, j.Close())
	})
}

func TestTwoProcessesAppendToTheirOwnIDs(t *testing.T) {
	j := openTest(t)
	children := map[string]*processes.Child{}
	for _, id := range []string{"a", "b"} {
		children[id] = processes.Start(t, "append for ever", pathOf(j), id)
	}
	acked := map[string][]string{}
	for range 200 {
		for id, c := range children {
			acked[id] = append(acked[id], c.Line())
		}
	}
	for id, c := range children {
		acked[id] = append(acked[id], c.Finish()...)
		got, err := readAll(t, j, id)
		require.NoError(t, err)
		require.Equal(t, acked[id], got)
	}
}

func TestTwoProcessesTakeOneIDFromEachOther(t *testing.T) {
	j := openTest(t)
	processes.Storm(t, j, "x", func(role string) *processes.Child { return processes.Start(t, role, pathOf(j), "x") })
}

// A reader continues from the last offset that it has seen, while other processes write.
func TestAReaderOfEventsMissesNothingOfOtherProcesses(t *testing.T) {
	j := openTest(t)
	one := processes.Start(t, "append for ever", pathOf(j), "a")
	two := processes.Start(t, "append for ever", pathOf(j), "b")
	acked := 0
	var seen []journal.Entry
	var last journal.Offset
	readOn := func() {
		entries, err := readEvents(t, j, journal.Query{}, last)
		require.NoError(t, err)
		if seen = append(seen, entries...); len(seen) > 0 {
			last = seen[len(seen)-1].Offset
		}
	}
	for range 200 {
		one.Line()
		two.Line()
		acked += 2
		readOn()
		require.GreaterOrEqual(t, len(seen), acked, "what was acknowledged is there")
	}
	acked += len(one.Finish()) + len(two.Finish())
	readOn()
	require.Len(t, seen, acked)
	again, err := readEvents(t, j, journal.Query{}, "")
	require.NoError(t, err)
	require.Equal(t, again, seen)
}

// Data acknowledged before kill -9 is there afterwards, and the head matches the events.
func TestAKilledWriterLosesNothingThatWasAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var acked []string
	for round := range 10 {
		c := processes.Start(t, "append for ever", path, "x")
		for range 1 + rand.IntN(100) {
			acked = append(acked, c.Line())
		}
		c.Signal(syscall.SIGKILL)
		acked = append(acked, c.Rest()...)
		c.Kill()

		j := openPath(t, path)
		claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		got, err := readAll(t, j, "x")
		require.NoError(t, err)
		require.Len(t, got, int(claim.LastSeq), "the head fits the events")
		require.GreaterOrEqual(t, len(got), len(acked))
		require.LessOrEqual(t, len(got), len(acked)+1, "round %d: at most the one under way is there unacknowledged", round)
		require.Subset(t, got, acked)
		acked = got
		require.NoError(t, j.Close())
	}
}

func TestAWriterThatWasStoppedIsFencedWhenItGoesOn(t *testing.T) {
	j := openTest(t)
	c := processes.Start(t, "append on request", pathOf(j), "x")
	require.Equal(t, "ready", c.Line())
	c.Ask()
	first := c.Line()
	c.Signal(syscall.SIGSTOP)

	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.Equal(t, uint64(1), claim.LastSeq)
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, 1, 1)})[0])

	c.Signal(syscall.SIGCONT)
	c.Ask()
	require.Contains(t, c.Line(), journal.ErrFenced.Error())
	c.Ask()
	require.Contains(t, c.Line(), journal.ErrFenced.Error())
	got, err := readAll(t, j, "x")
	require.NoError(t, err)
	require.Equal(t, []string{first, "x 2"}, got)
}

func TestAProcessStoppedInItsTransactionBlocksOthersOnlyAsLongAsTheyLike(t *testing.T) {
	j := openTest(t)
	claim := appendSome(t, j, "x", 3)
	c := processes.Start(t, "hold the lock", pathOf(j), "")
	require.Equal(t, "holding", c.Line())
	c.Signal(syscall.SIGSTOP)

	ctx, cancel := context.WithTimeout(t.Context(), 4*continueAfter)
	defer cancel()
	begin := time.Now()
	err := j.Append(ctx, []journal.AppendRequest{some("x", claim.Epoch, 3, 1)})[0]
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "another process does not stop writing, or was stopped while it wrote (it has "+pathOf(j))
	require.Less(t, time.Since(begin), 5*time.Second)
	got, err := readAll(t, j, "x")
	require.NoError(t, err)
	require.Len(t, got, 3, "readers go on")

	c.Kill()
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, 3, 1)})[0])
}

func TestAProcessStoppedInItsTransactionIsContinuedForTheOthers(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Missing(t, "finding the holder of a lock needs /proc")
	}
	j := openPath(t, filepath.Join(t.TempDir(), "journal.db"), ContinueStopped())
	claim := appendSome(t, j, "x", 3)
	c := processes.Start(t, "hold the lock", pathOf(j), "")
	require.Equal(t, "holding", c.Line())
	c.Signal(syscall.SIGSTOP)
	c.EndInput() // it lets go of the lock once it runs
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{some("x", claim.Epoch, 3, 1)})[0])
}

func TestAClaimGetsInBesideABusyProcess(t *testing.T) {
	j := openTest(t)
	c := processes.Start(t, "append for ever", pathOf(j), "busy")
	var worst time.Duration
	for i := range 50 {
		c.Line() // it is at it
		begin := time.Now()
		_, err := j.Claim(t.Context(), fmt.Sprint("x", i), journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		worst = max(worst, time.Since(begin))
	}
	c.Finish()
	t.Logf("the slowest of 50 claims took %v", worst)
	require.Less(t, worst, 2*time.Second)
}

func TestWithoutRightsOpenSaysWhichAreMissing(t *testing.T) {
	if os.Getuid() != 0 {
		needs.Missing(t, "only root can become nobody: run it as root")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	readOnly := filepath.Join(dir, "journal.db")
	require.NoError(t, openPath(t, readOnly).Close())

	c := processes.Start(t, "open as nobody", readOnly, "x")
	require.Contains(t, c.Line(), "let this process write to the database file and its directory")
	c.Finish()
	c = processes.Start(t, "open as nobody", filepath.Join(dir, "new.db"), "x")
	require.Contains(t, c.Line(), "permission denied")
	c.Finish()
}
