//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jetstreamtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/jetstream"
)

var fightTime = flag.Duration("fight", 3*time.Second, "how long two processes fight over one persistence id")

func init() { children["fight"] = fight }

// Two processes take one event-sourced actor from each other for as long as the fight
// lasts, while each of them is stopped and continued at random. What they leave is one
// history: every event that one of them has acknowledged is there once, where it was said
// to be, and no two writers have written in turns.
//
// For a minute: go test -C persistence/jetstream/jetstreamtest -run Fight -v -fight=1m
func TestTwoPausedProcessesThatFightOverAnEntityLeaveOneHistory(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := &rig{cluster: start(t, n)}
			j := r.open(t, r.name())
			fighters := []*fighter{newFighter(t, r, j), newFighter(t, r, j)}
			ctx, end := context.WithTimeout(t.Context(), *fightTime)
			defer end()
			var all sync.WaitGroup
			for _, f := range fighters {
				all.Go(f.listen)
				all.Go(func() { f.harass(ctx) })
			}
			all.Wait()

			history, claims := fought(t, j)
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
		})
	}
}

const foughtOver = "fought over"

// fought returns the events, none of which is there twice, and how many claims have written
// them, one after the other.
func fought(t *testing.T, j *journal) (history []string, claims int) {
	t.Helper()
	seen := map[any]bool{}
	var epoch uint64
	var writer persistence.WriterID
	for r, err := range j.Read(t.Context(), foughtOver, 1, everything) {
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
		require.False(t, seen[word], "%s is there twice", word)
		seen[word] = true
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

func newFighter(t *testing.T, r *rig, j *journal) *fighter {
	t.Helper()
	return &fighter{child: startChild(t, "fight", j.nc.ConnectedUrl(), j.stream, strconv.Itoa(len(r.cluster.servers)))}
}

// listen takes down what the fighter says, until it has ended.
func (f *fighter) listen() {
	for f.lines.Scan() {
		f.acked = append(f.acked, f.lines.Text())
	}
	if f.err = f.lines.Err(); f.err == nil {
		f.err = f.cmd.Wait()
	}
}

// harass stops the fighter and continues it, and lets it end when ctx is done.
func (f *fighter) harass(ctx context.Context) {
	for ctx.Err() == nil {
		rest(ctx, 5*time.Millisecond, 200*time.Millisecond)
		_ = f.cmd.Process.Signal(syscall.SIGSTOP)
		f.pauses++
		rest(ctx, time.Millisecond, 150*time.Millisecond)
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

// fight keeps the actor, and takes it back when it was taken away. Its arguments are the
// address of a server, the stream and its replicas.
func fight(args []string) error {
	replicas, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	nc, err := nats.Connect(args[0], nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	j, err := jetstream.Open(context.Background(), nc, jetstream.Config{Stream: args[1], Durability: jetstream.SyncAlways, Replicas: replicas})
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
		entity := actor.Spawn(system, persistence.New(foughtOver, j, 0, remember, strike, persistence.SnapshotEvery(50, 2)), "")
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
