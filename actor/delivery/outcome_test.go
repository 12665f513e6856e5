package delivery_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A note cannot be decoded when it says so, on the node of a consumer.
type note struct{ Text string }

// abroad is set while a consumer decodes.
var abroad atomic.Bool

// foreign is a consumer on a node that cannot decode all notes.
func foreign(consumer actor.Behavior[delivery.Link[note]]) actor.Behavior[delivery.Link[note]] {
	return behaviors.Intercept(&behaviors.Interceptor[delivery.Link[note]]{
		Message: func(ctx *actor.Context[delivery.Link[note]], m delivery.Link[note], inner actor.MessageHandler[delivery.Link[note]]) actor.Behavior[delivery.Link[note]] {
			abroad.Store(true)
			defer abroad.Store(false)
			return inner(ctx, m)
		},
	}, consumer)
}

const illegible = "illegible"

func (l note) MarshalCBOR() ([]byte, error) {
	p, err := extension.Pack(l.Text)
	return p.Data, err
}

func (l *note) UnmarshalCBOR(data []byte) error {
	v, err := extension.Unpack(nil, extension.Payload{Type: "string", Data: data})
	if err != nil {
		return err
	}
	if l.Text = v.(string); strings.HasPrefix(l.Text, illegible) && abroad.Load() {
		return errors.New("nobody can read this")
	}
	return nil
}

func init() { actor.RegisterType[note]("delivery_test.note") }

// reading is a worker that fails at what is poison, and tells a probe what it has handled.
func reading(done *testkit.Probe[string]) actor.Behavior[delivery.Delivery[note]] {
	return behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[delivery.Delivery[note]], d delivery.Delivery[note]) actor.Behavior[delivery.Delivery[note]] {
		if strings.HasPrefix(d.Message.Text, "poison") {
			return ctx.Fail(errPoison)
		}
		done.Ref().Tell(d.Message.Text)
		d.Confirm()
		return behaviors.Same
	}), actor.Strategy{})
}

// cases are messages that nobody handles, and why.
var unhandled = []struct {
	text   string
	reason error
}{
	{illegible + strings.Repeat(" ", 20), actor.ErrNotDecodable},
	{"poison", delivery.ErrGivenUp},
	{strings.Repeat("too long for the consumer ", 5), delivery.ErrTooLarge},
}

// producers are all kinds of producers, of which some have a queue.
func producers() map[string]func(...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf) {
	return map[string]func(...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf){
		"producer": func(o ...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf) {
			return delivery.Producer[note](o...), nil
		},
		"work pulling": func(o ...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf) {
			return delivery.WorkPulling[note](o...), nil
		},
		"producer with a queue": func(o ...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf) {
			q := &shelf{}
			return delivery.Producer[note](append(o, delivery.WithStore(q))...), q
		},
		"work pulling with a queue": func(o ...delivery.Option) (actor.Behavior[delivery.Command[note]], *shelf) {
			q := &shelf{}
			return delivery.WorkPulling[note](append(o, delivery.WithStore(q))...), q
		},
	}
}

func TestWhatNobodyHasHandledIsNotConfirmedAndAQueueKeepsIt(t *testing.T) {
	for name, make := range producers() {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				notes, done, told := dead(t, s), testkit.NewProbe[string](t, s), testkit.NewProbe[delivery.Confirmed](t, s)
				behavior, q := make(delivery.ChunkAbove(10))
				producer := actor.Spawn(s, behavior, "producer")
				consumer := actor.Spawn(s, foreign(delivery.Consumer(reading(done), delivery.Attempts(2), delivery.MaxBytes(100))), "consumer")
				producer.Tell(delivery.Connect[note]{Consumer: consumer})
				for _, c := range unhandled {
					producer.Tell(delivery.Send[note]{Message: note{c.text}, ConfirmTo: told.Ref()})
					refused := told.Receive()
					require.Zero(t, refused.Number)
					require.NotZero(t, refused.Refused)
					require.ErrorIs(t, refused.Reason, c.reason)
					require.ErrorIs(t, notes.Receive().Reason, c.reason)
					producer.Tell(delivery.Send[note]{Message: note{"next"}, ConfirmTo: told.Ref()})
					done.Expect("next")
					confirmed := told.Receive()
					require.Greater(t, confirmed.Number, refused.Refused)
					require.NoError(t, confirmed.Reason)
					if q != nil {
						kept, err := q.List(t.Context())
						require.NoError(t, err)
						last := kept[len(kept)-1]
						require.Equal(t, refused.Refused, last.Number)
						require.NotEmpty(t, last.Reason)
						message, err := last.Message(nil)
						require.NoError(t, err)
						require.Equal(t, note{c.text}, message)
					}
				}
				notes.ExpectNone(time.Hour)
				if q != nil {
					kept, err := q.List(t.Context())
					require.NoError(t, err)
					require.Len(t, kept, len(unhandled))
					_, rest, err := q.Load(t.Context())
					require.NoError(t, err)
					require.Empty(t, rest, "all of it is settled")
				}
			})
		})
	}
}

func TestARefusalReachesTheSenderWhateverIsLostOnTheWay(t *testing.T) {
	for name, make := range producers() {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				done, told := testkit.NewProbe[string](t, s), testkit.NewProbe[delivery.Confirmed](t, s)
				n := 0
				behavior, q := make()
				producer := actor.Spawn(s, behaviors.Intercept(&behaviors.Interceptor[delivery.Command[note]]{
					Message: func(ctx *actor.Context[delivery.Command[note]], c delivery.Command[note], inner actor.MessageHandler[delivery.Command[note]]) actor.Behavior[delivery.Command[note]] {
						if strings.Contains(fmt.Sprintf("%T", c), "requested") { // by a consumer
							if n++; n%4 == 1 {
								return behaviors.Same
							}
						}
						return inner(ctx, c)
					},
				}, behavior), "producer")
				consumer := losing[note](delivery.Consumer(reading(done), delivery.Attempts(1), delivery.Window(3)), func(n int) bool { return n%3 == 0 })
				producer.Tell(delivery.Connect[note]{Consumer: actor.Spawn(s, consumer, "consumer")})
				const many = 300
				for i := range many {
					text := "poison"
					if i%10 == 9 {
						text = "fine"
					}
					producer.Tell(delivery.Send[note]{Message: note{text}, ConfirmTo: told.Ref()})
				}
				time.Sleep(24 * time.Hour)
				refused, confirmed := 0, 0
				for range many {
					if c := told.Receive(); c.Number == 0 {
						require.ErrorIs(t, c.Reason, delivery.ErrGivenUp)
						require.NotEqual(t, uint64(0), c.Refused%10)
						refused++
					} else {
						require.Zero(t, c.Number%10)
						confirmed++
					}
				}
				require.Equal(t, many/10, confirmed)
				require.Equal(t, many-many/10, refused)
				told.ExpectNone(time.Hour)
				if q != nil {
					kept, err := q.List(t.Context())
					require.NoError(t, err)
					require.Len(t, kept, refused)
				}
			})
		})
	}
}

func TestAConsumerOfAnotherTypeRefusesWhatItGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n1, n2 := c.Node("n1"), c.Node("n2")
		got, told := testkit.NewProbe[delivery.Delivery[string]](t, n2.System), testkit.NewProbe[delivery.Confirmed](t, n1.System)
		actor.Spawn(n2, delivery.Consumer(texts(got)), "consumer")
		q := &shelf{}
		producer := actor.Spawn(n1, delivery.Producer[int](delivery.WithStore(q)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: at[delivery.Link[int]](n1, n2, "consumer")})
		producer.Tell(delivery.Send[int]{Message: 7, ConfirmTo: told.Ref()})
		refused := told.Receive()
		require.Zero(t, refused.Number)
		require.ErrorIs(t, refused.Reason, actor.ErrWrongType)
		require.ErrorContains(t, refused.Reason, "int")
		require.ErrorContains(t, refused.Reason, "string")
		kept, err := q.List(t.Context())
		require.NoError(t, err)
		require.Len(t, kept, 1)
		msg, err := kept[0].Message(nil)
		require.NoError(t, err)
		require.Equal(t, 7, msg)
	})
}

func TestWhatWasRefusedIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		q, got := &shelf{}, testkit.NewProbe[int](t, s)
		told, accepted := testkit.NewProbe[delivery.Confirmed](t, s), testkit.NewProbe[delivery.Accepted](t, s)
		broken := working(func(ctx *actor.Context[delivery.Delivery[int]], _ delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			return ctx.Fail(errPoison)
		})
		producer := actor.Spawn(s, delivery.Producer[int](delivery.WithStore(q), delivery.ChunkAbove(3)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(behaviors.Supervise(broken, actor.Strategy{}), delivery.Attempts(1)), "broken")})
		for _, i := range []int{1, 1 << 40, 3} {
			producer.Tell(delivery.Send[int]{Message: i, ConfirmTo: told.Ref()})
			require.Zero(t, told.Receive().Number)
		}
		kept, err := q.List(t.Context())
		require.NoError(t, err)
		require.Len(t, kept, 3)

		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(got)), "mended")})
		producer.Tell(delivery.Resend[int]{Number: kept[1].Number, ReplyTo: accepted.Ref(), ConfirmTo: told.Ref()})
		got.Expect(1 << 40)
		number := accepted.Receive().Number
		require.Greater(t, number, kept[2].Number)
		told.Expect(delivery.Confirmed{Number: number})
		synctest.Wait()
		kept, err = q.List(t.Context())
		require.NoError(t, err)
		require.Len(t, kept, 2)

		producer.Tell(delivery.Resend[int]{Number: 1 << 50, ReplyTo: accepted.Ref(), ConfirmTo: told.Ref()})
		accepted.Expect(delivery.Accepted{})
		require.ErrorIs(t, told.Receive().Reason, delivery.ErrNotKept)
		actor.Spawn(s, delivery.Producer[int](), "").Tell(delivery.Resend[int]{Number: 1, ConfirmTo: told.Ref()})
		require.ErrorIs(t, told.Receive().Reason, delivery.ErrNotKept)
	})
}

func TestAProducerWaitsWhileItsQueueHasNoRoomForWhatWasRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		q, told := &shelf{most: 3}, testkit.NewProbe[delivery.Confirmed](t, s)
		fails := true
		worker := behaviors.Supervise(working(func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			if fails {
				return ctx.Fail(errPoison)
			}
			d.Confirm()
			return behaviors.Same
		}), actor.Strategy{})
		producer := actor.Spawn(s, delivery.Producer[int](delivery.WithStore(q)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker, delivery.Attempts(1)), "consumer")})
		for i := range 5 {
			producer.Tell(delivery.Send[int]{Message: i, ConfirmTo: told.Ref()})
		}
		for i := range 3 {
			require.EqualValues(t, i+1, told.Receive().Refused)
		}
		told.ExpectNone(time.Hour)
		require.Less(t, q.upTo(), uint64(4), "what the queue does not keep is not confirmed")

		require.NoError(t, q.Remove(t.Context(), 1))
		time.Sleep(15 * time.Second) // it looks again from time to time
		require.EqualValues(t, 4, told.Receive().Refused)
		told.ExpectNone(time.Hour)
		fails = false
		producer.Tell(delivery.Resend[int]{Number: 2, ConfirmTo: told.Ref()}) // makes room by itself
		require.EqualValues(t, 5, told.Receive().Refused)
		require.EqualValues(t, 6, told.Receive().Number)
		synctest.Wait()
		require.EqualValues(t, 6, q.upTo())
		kept, err := q.List(t.Context())
		require.NoError(t, err)
		require.Len(t, kept, 3)
	})
}

func TestChunksHaveALimitThatTheProducerSays(t *testing.T) {
	effort.Unraced(t)
	inBubble(t, func(t *testing.T, s *actor.System) {
		told, accepted := testkit.NewProbe[delivery.Confirmed](t, s), testkit.NewProbe[delivery.Accepted](t, s)
		notes, got := dead(t, s), testkit.NewProbe[delivery.Delivery[string]](t, s)
		producer := actor.Spawn(s, delivery.Producer[string](delivery.ChunkAbove(1<<20)), "producer")
		producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, delivery.Consumer(texts(got)), "consumer")})
		large := strings.Repeat("x", 64<<20)
		producer.Tell(delivery.Send[string]{Message: large, ReplyTo: accepted.Ref(), ConfirmTo: told.Ref()})
		accepted.Expect(delivery.Accepted{})
		refused := told.Receive()
		require.Zero(t, refused.Number)
		require.ErrorIs(t, refused.Reason, delivery.ErrTooLarge)
		require.ErrorContains(t, refused.Reason, "67108869 bytes")
		require.ErrorContains(t, refused.Reason, "MaxBytes of the producer is 67108864")
		require.ErrorIs(t, notes.Receive().Reason, delivery.ErrTooLarge)
		largest := large[5:]
		producer.Tell(delivery.Send[string]{Message: largest, ConfirmTo: told.Ref()})
		d := got.Receive()
		require.Len(t, d.Message, len(largest))
		d.Confirm()
		require.NotZero(t, told.Receive().Number)
	})
}
