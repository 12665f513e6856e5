//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence/journal"
)

const killedIDs = 4

// A process is killed repeatedly, at any moment, while several of its writers append batches, save
// snapshots and delete. Acknowledged data is there, no batch is partial, and the database is sound.
func TestKillsLoseNothingAndLeaveNothingHalfWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	acked := make([]uint64, killedIDs)
	rounds := effort.Count(5, 25, 100)
	unacked := 0
	for round := range rounds {
		c := processes.Start(t, "append batches", path, fmt.Sprint(round))
		takeDown(t, acked, c.Line())
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond) // the moment
		c.Signal(syscall.SIGKILL)
		for _, line := range c.Rest() {
			takeDown(t, acked, line)
		}
		c.Kill()

		j := openPath(t, path)
		require.NoError(t, j.Check(t.Context()), "round %d", round)
		for i := range acked {
			last := lastWhole(t, j, fmt.Sprint("id-", i))
			require.GreaterOrEqual(t, last, acked[i], "round %d: acknowledged is what is there", round)
			if last > acked[i] {
				unacked++
			}
			acked[i] = last
		}
		require.NoError(t, j.Close())
	}
	t.Logf("%d kills, %v events, %d batches were there without an answer", rounds, acked, unacked)
}

// takeDown takes down an acknowledgement: a writer and its last event.
func takeDown(t *testing.T, acked []uint64, line string) {
	t.Helper()
	var i int
	var last uint64
	_, err := fmt.Sscanf(line, "id-%d %d", &i, &last)
	require.NoError(t, err, line)
	acked[i] = last
}

// lastWhole returns the last event of id, and requires that its batch is complete.
func lastWhole(t *testing.T, j *Journal, id string) (last uint64) {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	var end uint64
	for r, err := range j.Read(t.Context(), id, 1, 1<<62) {
		require.NoError(t, err)
		_, err := fmt.Sscan(string(r.Payload), &end)
		require.NoError(t, err)
		last = r.Seq
	}
	require.Equal(t, end, last, "%s has half a batch", id)
	require.Equal(t, claim.LastSeq, last, "%s: the head fits the events", id)
	return last
}

// appendBatches runs writers that append, save snapshots and delete until they are killed.
func appendBatches(args []string) error {
	j, err := Open(args[0])
	if err != nil {
		return err
	}
	ctx := process.UntilEOF()
	var writers sync.WaitGroup
	for i := range killedIDs {
		writers.Go(func() {
			if err := appendBatchesOf(ctx, j, fmt.Sprint("id-", i)); err != nil {
				processes.Say("failed: %v", err)
				os.Exit(1)
			}
		})
	}
	writers.Wait()
	return j.Close()
}

func appendBatchesOf(ctx context.Context, j *Journal, id string) error {
	lasting := context.WithoutCancel(ctx) // what it has begun it finishes
	claim, err := j.Claim(lasting, id, journal.WriterID{byte(os.Getpid())}, journal.Bounds{})
	if err != nil {
		return err
	}
	for last := claim.LastSeq; ctx.Err() == nil; {
		req := some(id, claim.Epoch, last, 1+rand.IntN(5))
		last += uint64(len(req.Records))
		for k := range req.Records {
			req.Records[k].Payload = fmt.Append(nil, last)
		}
		if err := j.Append(lasting, []journal.AppendRequest{req})[0]; err != nil {
			return err
		}
		processes.Say("%s %d", id, last)
		switch rand.IntN(10) {
		case 0:
			err = j.SaveSnapshot(lasting, id, journal.Snapshot{Seq: last, Epoch: claim.Epoch, Payload: []byte(id)})
		case 1:
			err = j.DeleteTo(lasting, id, claim.Epoch, last-min(last, 10))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
