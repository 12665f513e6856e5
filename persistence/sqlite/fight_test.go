//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

var fightTime = flag.Duration("fight", 4*time.Second, "how long two processes fight over one persistence id")

func init() { children["fight"] = fight }

// Two processes take one event-sourced actor from each other for as long as the fight
// lasts, while each of them is stopped and continued at random. What they leave is one
// history: every event that one of them has acknowledged is there once, where it was said
// to be, and no two writers have written in turns.
//
// For a minute: go test ./persistence/sqlite -run Fight -v -fight=1m
func TestTwoPausedProcessesThatFightOverAnEntityLeaveOneHistory(t *testing.T) {
	t.Parallel()
	j := openTest(t)
	fighters := []*fighter{newFighter(t, j), newFighter(t, j)}
	ctx, end := context.WithTimeout(t.Context(), *fightTime)
	defer end()
	var all sync.WaitGroup
	for _, f := range fighters {
		all.Go(f.listen)
		all.Go(func() { f.harass(ctx) })
	}
	all.Wait()

	history, claims := linear(t, j, "fought over")
	acked := map[int]bool{}
	for i, f := range fighters {
		require.NoError(t, f.err)
		require.NotEmpty(t, f.acked, "fighter %d has never won", i)
		for _, line := range f.acked {
			var seq int
			var word string
			_, err := fmt.Sscan(line, &seq, &word)
			require.NoError(t, err, line)
			require.LessOrEqual(t, seq, len(history), "acknowledged is %q", line)
			require.Equal(t, word, history[seq-1], "acknowledged is %q", line)
			require.False(t, acked[seq], "%d is acknowledged twice", seq)
			acked[seq] = true
		}
		t.Logf("fighter %d: %d acknowledged, %d pauses", i, len(f.acked), f.pauses)
	}
	require.NoError(t, j.Check(t.Context()))
	t.Logf("in %v: %d events, %d of them acknowledged, %d claims that wrote", *fightTime, len(history), len(acked), claims)
}

// linear returns the events of id, none of which is there twice, and how many claims have
// written them, one after the other.
func linear(t *testing.T, j *Journal, id string) (history []string, claims int) {
	t.Helper()
	seen := map[string]bool{}
	var epoch uint64
	var writer persistence.WriterID
	for r, err := range j.Read(t.Context(), id, 1, 1<<62) {
		require.NoError(t, err)
		require.EqualValues(t, len(history)+1, r.Seq)
		require.GreaterOrEqual(t, r.Epoch, epoch)
		if r.Epoch > epoch {
			epoch, writer = r.Epoch, r.Writer
			claims++
		}
		require.Equal(t, writer, r.Writer, "one claim, one writer")
		word, err := actor.Payload{Type: r.Type, Data: r.Payload}.Unpack(nil)
		require.NoError(t, err)
		require.False(t, seen[word.(string)], "%s is there twice", word)
		seen[word.(string)] = true
		history = append(history, word.(string))
	}
	return history, claims
}

// A fighter is one of the processes, as the test sees it.
type fighter struct {
	*child
	acked  []string
	pauses int
	err    error // of listening
}

func newFighter(t *testing.T, j *Journal) *fighter {
	t.Helper()
	return &fighter{child: startChild(t, "fight", pathOf(j), "fought over")}
}

// listen takes down what the fighter says, until it has ended.
func (f *fighter) listen() {
	for f.lines.Scan() {
		f.acked = append(f.acked, f.lines.Text())
	}
	f.err = f.lines.Err()
	f.end.Do(func() { f.err = f.cmd.Wait() })
}

// harass stops the fighter and continues it, and lets it end when ctx is done.
func (f *fighter) harass(ctx context.Context) {
	for ctx.Err() == nil {
		rest(ctx, 5*time.Millisecond, 200*time.Millisecond)
		_ = f.cmd.Process.Signal(syscall.SIGSTOP)
		f.pauses++
		longest := 150 * time.Millisecond
		if rand.IntN(10) == 0 {
			longest = 2 * time.Second // long enough that the other wakes it, if it holds the lock
		}
		rest(ctx, time.Millisecond, longest)
		_ = f.cmd.Process.Signal(syscall.SIGCONT)
	}
	_ = f.stdin.Close()
}

// rest waits for a random time.
func rest(ctx context.Context, least, most time.Duration) {
	select {
	case <-time.After(least + rand.N(most-least)):
	case <-ctx.Done():
	}
}

// A blow is the command of the actor that is fought over: to remember a word, and say as
// which one.
type blow struct {
	word string
	at   actor.ActorRef[int]
}

// fight keeps the actor, and takes it back when it was taken away.
func fight(path, id string) error {
	j, err := Open(path)
	if err != nil {
		return err
	}
	system := actor.NewSystem("fighter")
	remember := func(n int, _ string) int { return n + 1 }
	strike := func(_ *actor.Context[blow], n int, b blow) persistence.Effect[string] {
		return persistence.ThenReply(persistence.Persist(b.word), b.at, n+1)
	}
	ctx := untilEOF()
	for n := 0; ctx.Err() == nil; n++ {
		entity := actor.Spawn(system, persistence.New(id, j, 0, remember, strike, persistence.SnapshotEvery(50, 2)), "")
		for round := 0; ctx.Err() == nil; round++ {
			if !hit(entity, fmt.Sprintf("%d-%d-%d", os.Getpid(), n, round)) {
				break
			}
		}
		rest(ctx, time.Millisecond, 10*time.Millisecond)
	}
	if err := system.Shutdown(context.Background()); err != nil {
		return err
	}
	return j.Close()
}

// hit has entity remember word, says so when it has, and reports whether it has.
func hit(entity actor.ActorRef[blow], word string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	at, err := actor.Ask(ctx, entity, func(r actor.ActorRef[int]) blow { return blow{word, r} })
	if err == nil {
		say("%d %s", at, word)
	}
	return err == nil
}
