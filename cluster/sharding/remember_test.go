package sharding_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A ward knows which entities run, and how often each has been started.
type ward struct {
	mu      sync.Mutex
	running map[string]bool
	starts  map[string]int
}

func newWard() *ward { return &ward{running: map[string]bool{}, starts: map[string]int{}} }

// patient is an entity that lies in the ward while it runs.
func (w *ward) patient(e sharding.Entity) actor.Behavior[note] {
	return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
		w.mu.Lock()
		w.running[e.ID] = true
		w.starts[e.ID]++
		w.mu.Unlock()
		ctx.Defer(func() {
			w.mu.Lock()
			delete(w.running, e.ID)
			w.mu.Unlock()
		})
		return behaviors.Receive(func(ctx *actor.Context[note], n note) actor.Behavior[note] {
			switch n.Text {
			case "passivate":
				e.Passivate()
			case "stop":
				return behaviors.Stopped[note]
			case "fail":
				panic("as it was told")
			}
			if n.ReplyTo != (actor.ActorRef[string]{}) {
				n.ReplyTo.Tell(e.ID)
			}
			return nil
		})
	})
}

func (w *ward) list() (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.running {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *ward) started(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts[id]
}

func TestAMessageStartsAnEntityThatFailedAMinuteAgo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		for _, pause := range []time.Duration{2 * time.Second, 5 * time.Second, 30 * time.Second} {
			r.Ref("a").Tell(note{Text: "fail"})
			time.Sleep(pause)
			asked := time.Now()
			require.Equal(t, "a:", read(t, r.Ref("a")))
			require.Less(t, time.Since(asked), 4*time.Second, "the longest of three backoffs in a row")
		}
	})
}

func TestRememberedEntitiesRunAgainAfterAFullStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, before := journal.NewMemory(), newWard()
		first := testkit.NewSystem(t, persistence.WithJournal(store))
		r := start(t, first, before.patient, sharding.Remember(), sharding.Shards(4))
		var all []string
		for n := range 100 {
			all = append(all, fmt.Sprintf("p%02d/ä", n))
			read(t, r.Ref(all[n]))
		}
		time.Sleep(time.Hour)
		require.Equal(t, all, before.list(), "they stay awake")
		require.NoError(t, first.Shutdown(t.Context()))

		after := newWard()
		start(t, testkit.NewSystem(t, persistence.WithJournal(store)), after.patient, sharding.Remember(), sharding.Shards(4))
		synctest.Wait()
		require.Len(t, after.list(), 50, "of all shards at once")
		time.Sleep(time.Second)
		require.Equal(t, all, after.list())
	})
}

func TestAnEntityThatAsksToBePassivatedIsForgottenAndOneThatStopsIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := journal.NewMemory(), newWard()
		s := testkit.NewSystem(t, persistence.WithJournal(store))
		r := start(t, s, w.patient, sharding.Remember(), sharding.Shards(2))
		for _, does := range []string{"stop", "fail", "passivate"} {
			read(t, r.Ref(does))
			r.Ref(does).Tell(note{Text: does})
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"fail", "stop"}, w.list())
		require.Equal(t, "passivate", read(t, r.Ref("passivate")), "a message starts it again")
		r.Ref("passivate").Tell(note{Text: "passivate"})
		time.Sleep(time.Hour)
		require.NoError(t, s.Shutdown(t.Context()))

		w = newWard()
		start(t, testkit.NewSystem(t, persistence.WithJournal(store)), w.patient, sharding.Remember(), sharding.Shards(2))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"fail", "stop"}, w.list())
	})
}

func TestWhatArrivesWhileAnEntityPassivatesStartsItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := journal.NewMemory(), newWard()
		s := testkit.NewSystem(t, persistence.WithJournal(store))
		r := start(t, s, w.patient, sharding.Remember(), sharding.Shards(1))
		for range 500 {
			r.Ref("a").Tell(note{Text: "passivate"})
			r.Ref("a").Tell(note{})
			r.Ref("b").Tell(note{Text: "passivate"})
			require.Equal(t, "b", read(t, r.Ref("b")))
		}
		time.Sleep(time.Minute)
		read(t, r.Ref("a"))
		read(t, r.Ref("b"))
		require.Equal(t, []string{"a", "b"}, w.list())
		require.NoError(t, s.Shutdown(t.Context()))
		w = newWard()
		start(t, testkit.NewSystem(t, persistence.WithJournal(store)), w.patient, sharding.Remember(), sharding.Shards(1))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a", "b"}, w.list())
	})
}

func TestManyStartsAtOnceAreFewWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := newTroubled(), newWard()
		store.slow = 10 * time.Millisecond
		r := start(t, testkit.NewSystem(t, persistence.WithJournal(store)), w.patient, sharding.Remember(), sharding.Shards(1), sharding.Buffer(2000))
		for n := range 1000 {
			r.Ref(fmt.Sprint(n)).Tell(note{})
			if n%2 == 1 {
				r.Ref(fmt.Sprint(n)).Tell(note{Text: "passivate"})
			}
		}
		time.Sleep(time.Second)
		require.Len(t, w.list(), 500)
		require.Less(t, store.writes(), 10)
	})
}

func TestWhileTheJournalFailsNothingThatRunsIsDisturbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := newTroubled(), newWard()
		r := start(t, testkit.NewSystem(t, persistence.WithJournal(store)), w.patient, sharding.Remember(), sharding.Shards(1))
		read(t, r.Ref("old"))
		store.fail(errors.New("the disk is full"))
		r.Ref("new").Tell(note{})
		time.Sleep(10 * time.Second)
		require.Equal(t, "old", read(t, r.Ref("old")))
		require.Equal(t, []string{"old"}, w.list(), "it waits until it is remembered")
		store.fail(nil)
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"new", "old"}, w.list())
		require.Equal(t, 1, w.started("old"))
	})
}

func TestRememberNeedsAJournalAndNoPassivation(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		_, err := sharding.Start(s, "notebook", notebook, sharding.Remember())
		require.ErrorIs(t, err, persistence.ErrNoJournal)
		for want, opts := range map[string][]sharding.Option{
			"stay awake": {sharding.Remember(), sharding.PassivateAfter(time.Minute)},
			"leave out":  {sharding.Remember(), sharding.MaxEntities(5)},
		} {
			_, err := sharding.Start(s, "notebook", notebook, opts...)
			require.ErrorContains(t, err, want)
		}
		node := clustertest.Start(t, 1, clustertest.WithJournal(nil)).Node("n1")
		_, err = sharding.Start(node, "notebook", notebook, sharding.Remember())
		require.ErrorIs(t, err, persistence.ErrNoJournal)
	})
}

func TestPassivateDoesNothingOutsideOfAnEntity(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, newWard().patient(sharding.Entity{ID: "alone"}), "alone")
		ref.Tell(note{Text: "passivate"})
		require.Equal(t, "alone", read(t, ref))
	})
}

// A troubled journal counts what it stores, and fails when it is told to.
type troubled struct {
	persistence.Journal
	slow time.Duration // for each write

	mu      sync.Mutex // guards all below
	trouble error
	stored  int
}

func newTroubled() *troubled { return &troubled{Journal: journal.NewMemory()} }

func (j *troubled) fail(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.trouble = why
}

func (j *troubled) writes() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stored
}

func (j *troubled) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	time.Sleep(j.slow)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.trouble != nil {
		return slices.Repeat([]error{j.trouble}, len(reqs))
	}
	j.stored += len(reqs)
	return j.Journal.Append(ctx, reqs)
}

func TestAnEntityThatDoesNotStopWhenItIsPassivatedIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard()
		r := start(t, testkit.NewSystem(t), w.patient, sharding.PassivateAfter(0), sharding.StopMessage(note{Text: "ignored"}), sharding.StopTimeout(10*time.Second))
		read(t, r.Ref("a"))
		read(t, r.Ref("b"))
		r.Ref("a").Tell(note{Text: "passivate"})
		time.Sleep(9 * time.Second)
		require.Equal(t, []string{"a", "b"}, w.list())
		time.Sleep(30 * time.Second)
		require.Equal(t, []string{"b"}, w.list())
	})
}
