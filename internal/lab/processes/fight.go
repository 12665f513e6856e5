//go:build unix

package processes

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

var fightTime = flag.Duration("fight", 3*time.Second, "how long two processes fight over one persistence id")

// Fight tests that two processes, started by start, can take one event-sourced actor from each
// other. They do so for as long as the flag -fight says, while each process is stopped and
// continued at random.
//
// In the end j must have one history. Every acknowledged event is there once, at its acknowledged
// place, and the events of two writers do not alternate. id must be the persistence id that start
// gives the processes.
func Fight(t *testing.T, j persistence.Journal, id string, start func(role string) *Child) {
	t.Helper()
	fighters := []*fighter{newFighter(start("fight")), newFighter(start("fight"))}
	ctx, end := context.WithTimeout(t.Context(), *fightTime)
	defer end()
	var all sync.WaitGroup
	for _, f := range fighters {
		all.Go(f.listen)
		all.Go(func() { f.harass(ctx) })
	}
	all.Wait()

	history, claims := linear(t, j, id)
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
	t.Logf("in %v: %d events, %d of them acknowledged, %d claims that wrote", *fightTime, len(history), len(acked), claims)
}

// linear returns the events of id, and how many claims have written them, one after the other. It
// fails the test if an event is there twice.
func linear(t *testing.T, j persistence.Journal, id string) (history []string, claims int) {
	t.Helper()
	seen := map[string]bool{}
	var epoch uint64
	var writer journal.WriterID
	for r, err := range j.Read(t.Context(), id, 1, 1<<62) {
		require.NoError(t, err)
		require.EqualValues(t, len(history)+1, r.Seq)
		require.GreaterOrEqual(t, r.Epoch, epoch)
		if r.Epoch > epoch {
			epoch, writer = r.Epoch, r.Writer
			claims++
		}
		require.Equal(t, writer, r.Writer, "one claim, one writer")
		word, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
		require.NoError(t, err)
		require.False(t, seen[word.(string)], "%s is there twice", word)
		seen[word.(string)] = true
		history = append(history, word.(string))
	}
	return history, claims
}

// A fighter is one of the processes, as the test sees it.
type fighter struct {
	*Child
	acked  []string
	heard  chan struct{} // closed with the first line, or the end
	pauses int
	err    error // of listening
}

func newFighter(c *Child) *fighter { return &fighter{Child: c, heard: make(chan struct{})} }

// listen records the lines of the fighter until it has ended.
func (f *fighter) listen() {
	heard := sync.OnceFunc(func() { close(f.heard) })
	defer heard()
	for line, ok := f.process.Line(); ok; line, ok = f.process.Line() {
		f.acked = append(f.acked, line)
		heard()
	}
	f.err = f.process.Wait()
}

// harass stops and continues the fighter. It lets the fighter end when ctx is done and it has won
// at least once, which takes longer on a busy machine, but less than a minute.
func (f *fighter) harass(ctx context.Context) {
	for ctx.Err() == nil {
		rest(ctx, 5*time.Millisecond, 200*time.Millisecond)
		_ = f.process.Signal(syscall.SIGSTOP)
		f.pauses++
		longest := 150 * time.Millisecond
		if rand.IntN(10) == 0 {
			longest = 2 * time.Second // long enough for other processes to act on a lock that it holds
		}
		rest(ctx, time.Millisecond, longest)
		_ = f.process.Signal(syscall.SIGCONT)
	}
	select {
	case <-f.heard:
	case <-time.After(time.Minute):
	}
	f.EndInput()
}

// rest waits for a random time.
func rest(ctx context.Context, least, most time.Duration) {
	select {
	case <-time.After(least + rand.N(most-least)):
	case <-ctx.Done():
	}
}
