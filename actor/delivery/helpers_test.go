package delivery_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// inBubble runs f with a system in a bubble.
func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, testkit.NewSystem(t, testkit.WithoutEncoding()))
	})
}

// working is a worker that calls do.
func working(do func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]]) actor.Behavior[delivery.Delivery[int]] {
	return behaviors.Receive(do)
}

// passing hands all deliveries to the probe, which has to confirm them.
func passing(p *testkit.Probe[delivery.Delivery[int]]) actor.Behavior[delivery.Delivery[int]] {
	return working(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
		p.Ref().Tell(d)
		return behaviors.Same
	})
}

// confirming adds what it confirms to a log.
func confirming(log *testkit.Probe[int]) actor.Behavior[delivery.Delivery[int]] {
	return working(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
		log.Ref().Tell(d.Message)
		d.Confirm()
		d.Confirm()
		return behaviors.Same
	})
}

// send sends the numbers from 1 on.
func send(producer actor.ActorRef[delivery.Command[int]], to int) {
	for i := 1; i <= to; i++ {
		producer.Tell(delivery.Send[int]{Message: i})
	}
}

// errPoison is how an actor of a test fails.
var errPoison = errors.New("poison")

const (
	poison = -1 // makes a restarting actor fail
	tick   = -2 // what a worker tells itself
)

// restarting is a producer that fails at the message poison, and is restarted.
func restarting(p actor.Behavior[delivery.Command[int]]) actor.Behavior[delivery.Command[int]] {
	return behaviors.Supervise(behaviors.Intercept(&behaviors.Interceptor[delivery.Command[int]]{
		Message: func(ctx *actor.Context[delivery.Command[int]], c delivery.Command[int], inner actor.MessageHandler[delivery.Command[int]]) actor.Behavior[delivery.Command[int]] {
			if s, ok := c.(delivery.Send[int]); ok && s.Message == poison {
				return ctx.Fail(errPoison)
			}
			return inner(ctx, c)
		},
	}, p), actor.Strategy{})
}

// dead returns a probe that is told of dead letters.
func dead(t *testing.T, s *actor.System) *testkit.Probe[actor.DeadLetter] {
	t.Helper()
	deadLetters := testkit.NewProbe[actor.DeadLetter](t, s)
	actor.Subscribe(s, deadLetters.Ref())
	return deadLetters
}

// expectDead expects the dead letter of a message.
func expectDead(t *testing.T, deadLetters *testkit.Probe[actor.DeadLetter], msg any, reason error) {
	t.Helper()
	deadLetter := deadLetters.Receive()
	require.Equal(t, msg, deadLetter.Message)
	require.ErrorIs(t, deadLetter.Reason, reason)
}

// A shelf is a queue in memory. Its functions are called before the operations, if they
// are set.
type shelf struct {
	mu        sync.Mutex // guards all below
	confirmed uint64
	messages  []extension.Payload
	refused   []delivery.Refused
	most      int // how many refused messages it keeps; 0: any number
	onLoad    func(context.Context) error
	onAppend  func(ctx context.Context, messages []extension.Payload) error
}

func (*shelf) ID() string { return "shelf" }

func (q *shelf) Load(ctx context.Context) (uint64, []extension.Payload, error) {
	if q.onLoad != nil {
		if err := q.onLoad(ctx); err != nil {
			return 0, nil, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.confirmed, append([]extension.Payload(nil), q.messages...), nil
}

func (q *shelf) Append(ctx context.Context, first uint64, messages []extension.Payload) error {
	if q.onAppend != nil {
		if err := q.onAppend(ctx, messages); err != nil {
			return err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if next := q.confirmed + uint64(len(q.messages)) + 1; first != next {
		return errors.New("shelf: numbers with a gap")
	}
	q.messages = append(q.messages, messages...)
	return nil
}

func (q *shelf) Settle(_ context.Context, upTo uint64, beyond []uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = q.messages[upTo-q.confirmed:]
	q.confirmed = upTo
	for _, n := range beyond {
		q.messages[n-upTo-1] = extension.Payload{}
	}
	return nil
}

func (q *shelf) Refuse(_ context.Context, messages []delivery.Refused) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most > 0 && len(q.refused)+len(messages) > q.most {
		return delivery.ErrRefusedFull
	}
	for _, m := range messages {
		if !slices.ContainsFunc(q.refused, func(r delivery.Refused) bool { return r.Number == m.Number }) {
			q.refused = append(q.refused, m)
		}
	}
	return nil
}

func (q *shelf) List(context.Context) ([]delivery.Refused, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.refused), nil
}

func (q *shelf) Remove(_ context.Context, numbers ...uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused = slices.DeleteFunc(q.refused, func(r delivery.Refused) bool { return slices.Contains(numbers, r.Number) })
	return nil
}

// upTo returns what has been confirmed.
func (q *shelf) upTo() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.confirmed
}
