package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// attacked runs f with a consumer whose worker confirms nothing. from receives the consumer's
// answers.
func attacked(t *testing.T, f func(consumer actor.ActorRef[Link[string]], worker *testkit.Probe[Delivery[string]], from *testkit.Probe[request], deadLetters *testkit.Probe[actor.DeadLetter]), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		worker, from, deadLetters := testkit.NewProbe[Delivery[string]](t, s), testkit.NewProbe[request](t, s), testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, deadLetters.Ref())
		behavior := behaviors.Receive(func(_ *actor.Context[Delivery[string]], d Delivery[string]) actor.Behavior[Delivery[string]] {
			worker.Ref().Tell(d)
			return behaviors.Same
		})
		f(actor.Spawn(s, Consumer(behavior, opts...), "consumer"), worker, from, deadLetters)
	})
}

func TestWhoSendsMoreThanWasAskedForIsRefused(t *testing.T) {
	for _, flowOnly := range []bool{true, false} {
		attacked(t, func(consumer actor.ActorRef[Link[string]], worker *testkit.Probe[Delivery[string]], from *testkit.Probe[request], deadLetters *testkit.Probe[actor.DeadLetter]) {
			const many = 100
			for n := uint64(1); n <= many; n++ { // says that all before were confirmed, which they were not
				consumer.Tell(sequenced{Stream: "x", Connection: n, From: from.Ref(), First: n, Number: n, FlowOnly: flowOnly, local: "spam"})
			}
			if flowOnly {
				for range many - 2*5 {
					require.ErrorIs(t, deadLetters.Receive().Reason, ErrTooMany)
				}
			}
			deadLetters.ExpectNone(time.Hour)
			for n := range uint64(2 * 5) {
				d := worker.Receive()
				require.Equal(t, n+1, d.Number)
				d.Confirm()
			}
			worker.ExpectNone(time.Hour)
			consumer.Tell(sequenced{Stream: "x", Connection: many, From: from.Ref(), First: 2*5 + 1, Number: 2*5 + 1, FlowOnly: flowOnly, local: "sent again"})
			require.Equal(t, "sent again", worker.Receive().Message)
		}, Window(5))
	}
}

func TestPartsThatAreTooManyAreNotGathered(t *testing.T) {
	attacked(t, func(consumer actor.ActorRef[Link[string]], worker *testkit.Probe[Delivery[string]], from *testkit.Probe[request], deadLetters *testkit.Probe[actor.DeadLetter]) {
		whole, err := extension.Pack("short")
		require.NoError(t, err)
		part := func(number, index uint64, data []byte, more bool) {
			consumer.Tell(sequenced{Stream: "x", Connection: 1, From: from.Ref(), First: 1, Number: number, Part: index, More: more, Payload: extension.Payload{Type: "string", Data: data}})
		}
		const parts = 100
		for n := range uint64(parts) {
			part(n+1, n, make([]byte, 10), n+1 < parts)
		}
		deadLetter := deadLetters.Receive()
		require.ErrorIs(t, deadLetter.Reason, ErrTooLarge)
		require.Equal(t, extension.Payload{Type: "string"}, deadLetter.Message)
		part(parts+1, 0, whole.Data[:3], true)
		part(parts+2, 1, whole.Data[3:], false)
		d := worker.Receive()
		require.Equal(t, "short", d.Message)
		d.Confirm()
		for from.Receive().Confirmed < parts+2 {
		}
		deadLetters.ExpectNone(time.Hour)
	}, MaxBytes(95))
}
