package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// The journal loses answers, refuses requests and is slow. Writers fence each other off, crash and
// are restarted. Each acknowledged event is in the state exactly once, and no event is there twice.
func TestNoScheduleOfFaultsLosesOrDoublesWhatWasAcknowledged(t *testing.T) {
	shortened := 0
	for seed := range uint64(50) {
		inBubble(t, func(w *world) {
			w.Logf("seed %d", seed)
			chance := rand.New(rand.NewPCG(seed, 0))
			deleting := seed%2 == 1
			acknowledged := w.misbehave(chance, deleting)
			w.journal.set(hooks{})
			w.spawn().Tell(recall(w.to))
			state := strings.Trim(w.replies.Receive(), "[]")
			require.True(w, strings.HasSuffix(state, w.events()))
			if w.events() != state {
				require.True(w, deleting, "events are deleted when they may be")
				shortened++
			}
			count := map[string]int{}
			for word := range strings.FieldsSeq(state) {
				count[word]++
				require.Equal(w, 1, count[word], "seed %d: word %s", seed, word)
			}
			require.NotEmpty(w, acknowledged)
			for word := range acknowledged {
				require.Equal(w, 1, count[strings.TrimSpace(word)], "seed %d: word %s", seed, word)
			}
		}, actor.WithLogger(zap.NewNop()))
	}
	require.Greater(t, shortened, 12, "most of the 25 are shortened; a few have no luck with any snapshot or deletion")
}

// misbehave starts writers that write and fail, and returns the acknowledged words.
func (w *world) misbehave(chance *rand.Rand, deleting bool) map[string]bool {
	faulty := w.faults(chance.Uint64())
	w.journal.set(hooks{claim: faulty, append: faulty, save: faulty, load: faulty, delete: faulty})
	acknowledged := map[string]bool{}
	to := actor.Spawn(w.system, behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
		acknowledged[word] = true
		return behaviors.Same
	}), "")
	var writers []actor.ActorRef[command]
	for i := range 100 {
		if i%20 == 0 {
			writers = append(writers, w.writer(deleting))
		}
		writer := writers[max(0, len(writers)-1-chance.IntN(2))]
		switch chance.IntN(10) {
		case 0:
			writer.Tell(explode)
		case 1:
			time.Sleep(time.Duration(chance.IntN(2000)) * time.Millisecond)
		}
		writer.Tell(say(to, fmt.Sprintf(" %d", i), fmt.Sprintf(" %d'", i)))
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	return acknowledged
}

// writer spawns an actor that is restarted until it is fenced off, and may delete events
// that snapshots stand in for.
func (w *world) writer(deleting bool) actor.ActorRef[command] {
	opts := options{SnapshotEvery: 7, KeepSnapshots: 2}
	if deleting {
		opts.DeleteEvents = true
		opts.SnapshotWhen = func(_ string, _ said, seq uint64) bool { return seq%5 == 0 }
	}
	return actor.Spawn(w.system, behaviors.Supervise(words(w.journal, opts), actor.Strategy{
		Backoff: actor.Backoff{Min: 10 * time.Millisecond},
		Decide: func(err error) actor.Directive {
			if errors.Is(err, persistence.ErrFenced) {
				return actor.Stop
			}
			return actor.Restart
		},
	}), "")
}

// faults returns a hook that fails every other call in one of the ways there are.
func (w *world) faults(seed uint64) func(context.Context, func() error) error {
	dice := make(chan *rand.Rand, 1)
	dice <- rand.New(rand.NewPCG(seed, 1))
	return func(_ context.Context, apply func() error) error {
		d := <-dice
		fault, delay := d.IntN(8), time.Duration(d.IntN(500))*time.Millisecond
		dice <- d
		switch fault {
		case 0:
			return persistence.ErrUnavailable
		case 1:
			return persistence.ErrUnknown
		case 2: // the answer is lost
			_ = apply()
			return persistence.ErrUnknown
		case 3:
			time.Sleep(delay)
		}
		return apply()
	}
}
