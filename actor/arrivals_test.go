package actor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
)

// Messages from another node come in their order, whatever becomes of those between them, and
// whether the mailbox is plain.
func TestEncodedMessagesComeInOrderAndThoseThatCannotBeDecodedAreReportedInTheirPlace(t *testing.T) {
	for name, options := range map[string][]actor.SpawnOption{
		"plain":    nil,
		"blocking": {actor.Bounded(10).Block(time.Hour)},
		"bounded":  {actor.Bounded(1000)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) { arriveEncoded[int](t, s, "wrong type", options) })
			inBubble(t, func(t *testing.T, s *actor.System) { arriveEncoded[any](t, s, "message", options) })
		})
	}
}

// arriveEncoded sends numbers, texts and garbage to an actor that takes messages of type M. text is
// what becomes of texts.
func arriveEncoded[M any](t *testing.T, s *actor.System, text string, options []actor.SpawnOption) {
	t.Helper()
	var got, want, failed, garbage []string
	actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[M], m M) actor.Behavior[M] {
		got = append(got, fmt.Sprint(m))
		return behaviors.Same
	}), "target", options...)
	var all []actorhook.Arrival
	for i := range 200 {
		switch {
		case i%50 == 49:
			all = append(all, actorhook.Arrival{Type: "int", Data: []byte{0xff}})
			garbage = append(garbage, fmt.Sprint(i))
		case i%33 == 32:
			all = append(all, arrivalOf(t, "text"))
			if text == "message" {
				want = append(want, "text")
			}
		default:
			all = append(all, arrivalOf(t, i))
			want = append(want, fmt.Sprint(i))
		}
	}
	arrive := arrivals(s)
	for i, half := range [][]actorhook.Arrival{all[:100], all[100:]} { // the second one for an actor that is remembered
		arrive("/user/target", 0, half, dispatcher(func(at int, err error) {
			if err == nil {
				t.Error("no reason")
			}
			failed = append(failed, fmt.Sprint(100*i+at))
		}))
	}
	settle()
	require.Equal(t, want, got)
	require.Equal(t, garbage, failed)
}

func arrivals(s *actor.System) func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher) {
	return actorhook.Internals(s).(interface {
		Arrivals() func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher)
	}).Arrivals()
}

// A connection remembers the actors to which its messages have gone. They may have ended since.
func TestMessagesOfAConnectionComeToTheActorThatHasThePathNow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var got []string
		spawn := func(name string) actor.ActorRef[int] {
			return actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				got = append(got, fmt.Sprint(name, n))
				if n < 0 {
					return behaviors.Stopped
				}
				return behaviors.Same
			}), "target")
		}
		lost := deadLetters(t, s)
		connection := arrivals(s)
		arrive := func(uid uint64, n int) {
			connection("/user/target", uid, []actorhook.Arrival{arrivalOf(t, n)}, dispatcher(func(_ int, err error) { t.Error(err) }))
			settle()
		}
		first := spawn("a")
		arrive(0, 1)
		arrive(uidOf(t, first), 2)
		arrive(uidOf(t, first), -3)
		arrive(0, 4)
		require.ErrorIs(t, lost.Receive().Reason, actor.ErrNoSuchActor)
		second := spawn("b")
		arrive(0, 5)
		arrive(uidOf(t, second), 6)
		arrive(uidOf(t, first), 7)
		require.ErrorIs(t, lost.Receive().Reason, actor.ErrStaleRef)
		require.Equal(t, []string{"a1", "a2", "a-3", "b5", "b6"}, got)
	})
}

type dispatcher func(i int, err error)

func (d dispatcher) Undecodable(i int, err error) { d(i, err) }

func arrivalOf(t *testing.T, msg any) actorhook.Arrival {
	t.Helper()
	p, err := extension.Pack(msg)
	require.NoError(t, err)
	return actorhook.Arrival{Type: p.Type, Data: p.Data}
}
