package delivery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The time until a message has been confirmed by a worker that does nothing else, when there
// are always some that wait.
func BenchmarkProducer(b *testing.B) {
	for _, window := range []int{1, 10, 50, 500} {
		b.Run(fmt.Sprintf("local/window=%d", window), func(b *testing.B) {
			s := benchSystem(b)
			deliverAll(b, s, s, delivery.Producer[int](), delivery.Window(window))
		})
	}
	for _, window := range []int{1, 10, 50, 500} {
		b.Run(fmt.Sprintf("tcp/window=%d", window), func(b *testing.B) {
			deliverAll(b, tcpSystem(b), tcpSystem(b), delivery.Producer[int](), delivery.Window(window))
		})
	}
	b.Run("tcp/window=50/flow-control-only", func(b *testing.B) {
		deliverAll(b, tcpSystem(b), tcpSystem(b), delivery.Producer[int](delivery.FlowControlOnly()))
	})
	b.Run("local/window=50/queue-in-memory", func(b *testing.B) {
		s := benchSystem(b)
		queue := delivery.NewQueue("bench", journal.NewMemory())
		deliverAll(b, s, s, delivery.Producer[int](delivery.WithQueue(queue)))
	})
}

func benchSystem(b *testing.B, opts ...actor.Option) *actor.System {
	b.Helper()
	s := actor.NewSystem("bench", opts...)
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	return s
}

// tcpSystem returns a system on the loopback interface.
func tcpSystem(b *testing.B) *actor.System {
	b.Helper()
	e, err := transport.Listen(transport.Config{Cluster: "bench", Bind: "127.0.0.1:0"})
	require.NoError(b, err)
	b.Cleanup(func() { _ = e.Close() })
	s := benchSystem(b, extension.WithTransport(e.Addr(), e))
	e.Serve(s)
	return s
}

func deliverAll(b *testing.B, from, to *actor.System, producer actor.Behavior[delivery.Command[int]], opts ...delivery.Option) {
	b.Helper()
	done, most := make(chan struct{}), b.N
	consumer := actor.Spawn(to, delivery.Consumer(working(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
		d.Confirm()
		if d.Message == most {
			close(done)
		}
		return nil
	}), opts...), "")
	p := actor.Spawn(from, producer, "")
	p.Tell(delivery.Connect[int]{Consumer: actor.Resolve[delivery.Link[int]](from, consumer.String())})
	b.ReportAllocs()
	b.ResetTimer()
	actor.Spawn(from, sending(p, most), "")
	<-done
}

// sending sends the numbers up to most, at most 100 ahead of what has been accepted.
func sending(p actor.ActorRef[delivery.Command[int]], most int) actor.Behavior[delivery.Accepted] {
	return behaviors.Setup(func(ctx *actor.Context[delivery.Accepted]) actor.Behavior[delivery.Accepted] {
		sent := 0
		next := func() {
			if sent++; sent <= most {
				p.Tell(delivery.Send[int]{Message: sent, ReplyTo: ctx.Self()})
			}
		}
		for range 100 {
			next()
		}
		return behaviors.Receive(func(*actor.Context[delivery.Accepted], delivery.Accepted) actor.Behavior[delivery.Accepted] {
			next()
			return behaviors.Same
		})
	})
}
