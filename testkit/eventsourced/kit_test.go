package eventsourced_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

type (
	add struct {
		n       int
		replyTo actor.ActorRef[int]
	}
	added struct{ N int }
	alien struct{ F func() } // cannot be encoded
)

func init() { actor.RegisterType[added]("eventsourced_test.added") }

func sum(total int, event any) int {
	if a, ok := event.(added); ok {
		return total + a.N
	}
	return total
}

func adding(_ *actor.Context[add], total int, cmd add) persistence.Effect[any] {
	switch {
	case cmd.n == 0:
		return persistence.Reply[any](cmd.replyTo, total)
	case cmd.n < 0:
		return persistence.Persist[any](alien{})
	}
	return persistence.ThenReply(persistence.Persist[any](added{cmd.n}), cmd.replyTo, total+cmd.n)
}

type options = persistence.Options[add, any, int]

func counter(opts options) eventsourced.Behavior[add, any, int] {
	return eventsourced.Behavior[add, any, int]{ID: "sum", OnEvent: sum, OnCommand: adding, Options: opts}
}

func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, testkit.NewSystem(t, testkit.WithoutEncoding()))
	})
}

func TestACommandLeadsToEventsAStateAndAReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		k := eventsourced.New(t, s, counter(options{}))
		reply, outcome := eventsourced.Ask(k, func(r actor.ActorRef[int]) add { return add{3, r} })
		require.Equal(t, 3, reply)
		require.Equal(t, eventsourced.Outcome[any, int]{Events: []any{added{3}}, State: 3}, outcome)
		outcome = k.Run(add{n: 4})
		require.Equal(t, eventsourced.Outcome[any, int]{Events: []any{added{4}}, State: 7}, outcome)
		reply, outcome = eventsourced.Ask(k, func(r actor.ActorRef[int]) add { return add{0, r} })
		require.Equal(t, 7, reply)
		require.Equal(t, eventsourced.Outcome[any, int]{State: 7}, outcome)
		require.Equal(t, []any{added{3}, added{4}}, k.Events())
	})
}

func TestARestartGivesTheSameState(t *testing.T) {
	for name, opts := range map[string]options{
		"from events":           {},
		"from a snapshot":       {SnapshotEvery: 2, KeepSnapshots: 1},
		"from a snapshot alone": {DeleteEvents: true, SnapshotEvery: 3, KeepSnapshots: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				k := eventsourced.New(t, s, counter(opts))
				require.Equal(t, 0, k.Restart())
				for n := range 6 {
					require.NoError(t, k.Run(add{n: n + 1}).Err)
				}
				before := k.Ref()
				require.Equal(t, 21, k.Restart())
				require.NotEqual(t, before.String(), k.Ref().String())
				require.Equal(t, 22, k.Run(add{n: 1}).State)
			})
		})
	}
}

func TestAnEventThatCannotBeEncodedIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		k := eventsourced.New(t, s, counter(options{}))
		k.Run(add{n: 1})
		outcome := k.Run(add{n: -1})
		require.ErrorIs(t, outcome.Err, actor.ErrNotSerializable)
		require.Equal(t, 1, outcome.State)
		require.Empty(t, outcome.Events)
		require.Equal(t, 1, k.Restart())
	})
}

func TestTheJournalFailsAsItIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		k := eventsourced.New(t, s, counter(options{}))
		k.Run(add{n: 1})

		k.FailNext(persistence.ErrUnavailable, persistence.ErrUnavailable)
		outcome := k.Run(add{n: 2})
		require.NoError(t, outcome.Err, "it was tried again")
		require.Equal(t, 3, outcome.State)

		k.RejectNext(1)
		outcome = k.Run(add{n: 4})
		var rejected *persistence.RejectedError
		require.ErrorAs(t, outcome.Err, &rejected)
		require.ErrorContains(t, outcome.Err, "the test has called RejectNext", "and not that the record is too large")
		require.Equal(t, 3, outcome.State)
		require.Empty(t, outcome.Events)
		require.Equal(t, 3, k.Restart())

		k.FailNext(persistence.ErrFenced)
		outcome = k.Run(add{n: 4})
		require.ErrorIs(t, outcome.Err, persistence.ErrFenced)
		var failed *extension.HandlingError
		require.True(t, errors.As(outcome.Err, &failed) && failed.Ended)
		require.Equal(t, 3, k.Restart())
		require.Equal(t, 7, k.Run(add{n: 4}).State)
	})
}

// wrapped is the counter as programs have it: in whatever else an actor needs.
func wrapped(id string, j persistence.Journal, opts ...persistence.Option) actor.Behavior[add] {
	return behaviors.EventSourced(id, j, 0, sum, adding, opts...)
}

func TestBehaviorsAreTestedAsTheyAre(t *testing.T) {
	var seen []int
	double := &behaviors.Interceptor[add]{Message: func(ctx *actor.Context[add], msg add, inner actor.MessageHandler[add]) actor.Behavior[add] {
		seen = append(seen, msg.n)
		msg.n *= 2
		return inner(ctx, msg)
	}}
	restart := actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}
	setups := 0
	for name, test := range map[string]struct {
		behavior func(j persistence.Journal) actor.Behavior[add]
		factor   int
	}{
		"alone": {func(j persistence.Journal) actor.Behavior[add] { return wrapped("sum", j) }, 1},
		"in Setup": {func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Setup(func(ctx *actor.Context[add]) actor.Behavior[add] {
				setups++
				return wrapped("sum", j)
			})
		}, 1},
		"in Supervise": {func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Supervise(wrapped("sum", j), restart)
		}, 1},
		"in Intercept": {func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Intercept(double, wrapped("sum", j))
		}, 2},
		"with a signal handler of its own": {func(j persistence.Journal) actor.Behavior[add] {
			return wrapped("sum", j, options{
				OnSignal: func(*actor.Context[add], int, persistence.Signal) persistence.Effect[any] { return nil },
			})
		}, 1},
		"in all": {func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[add]) actor.Behavior[add] {
				return behaviors.Intercept(double, wrapped("sum", j, options{SnapshotEvery: 1, KeepSnapshots: 1}))
			}), restart)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				k := eventsourced.Of[any, int](t, s, test.behavior)
				require.Zero(t, k.State())
				outcome := k.Run(add{n: 3})
				require.Equal(t, eventsourced.Outcome[any, int]{Events: []any{added{3 * test.factor}}, State: 3 * test.factor}, outcome)
				require.Equal(t, 3*test.factor, k.Restart())
				require.Equal(t, 7*test.factor, k.Run(add{n: 4}).State)
				reply, _ := eventsourced.Ask(k, func(r actor.ActorRef[int]) add { return add{0, r} })
				require.Equal(t, 7*test.factor, reply)
				require.Equal(t, []any{added{3 * test.factor}, added{4 * test.factor}}, k.Events())
			})
		})
	}
	require.NotEmpty(t, seen)
	require.Equal(t, 2, setups)
}

// A supervised actor goes on where it was.
func TestASupervisedActorIsSeenAfterItsRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		k := eventsourced.Of[any, int](t, s, func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Supervise(wrapped("sum", j), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}})
		})
		k.Run(add{n: 1})
		k.RejectNext(1)
		var failed *extension.HandlingError
		require.ErrorAs(t, k.Run(add{n: 2}).Err, &failed)
		require.False(t, failed.Ended)
		require.Equal(t, eventsourced.Outcome[any, int]{Events: []any{added{3}}, State: 4}, k.Run(add{n: 3}))
	})
}

// The kit ignores actors that the tested one spawns.
func TestAChildWithAJournalIsNotTakenForTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		k := eventsourced.Of[any, int](t, s, func(j persistence.Journal) actor.Behavior[add] {
			return behaviors.Setup(func(ctx *actor.Context[add]) actor.Behavior[add] {
				actor.Spawn(ctx, wrapped("child", j), "child").Tell(add{n: 100})
				return wrapped("sum", j)
			})
		})
		synctest.Wait()
		require.Zero(t, k.State())
		require.Equal(t, eventsourced.Outcome[any, int]{Events: []any{added{5}}, State: 5}, k.Run(add{n: 5}))
	})
}
