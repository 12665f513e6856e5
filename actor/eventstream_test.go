package actor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

type celsius float64

func (c celsius) String() string { return fmt.Sprintf("%.1f °C", float64(c)) }

func TestEventsGoToTheSubscribersOfTheirType(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		temperatures := testkit.NewProbe[celsius](t, s)
		numbers := testkit.NewProbe[float64](t, s)
		actor.Subscribe(s, temperatures.Ref())
		actor.Subscribe(s, numbers.Ref())
		s.Publish(celsius(36.6))
		s.Publish(1.5)
		s.Publish("a string")
		s.Publish(nil)
		temperatures.Expect(36.6)
		numbers.Expect(1.5)
		temperatures.ExpectNone(time.Hour)
		numbers.ExpectNone(time.Hour)
	})
}

func TestASubscriberToAnInterfaceGetsAllThatImplementIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		stringers := testkit.NewProbe[fmt.Stringer](t, s)
		everything := testkit.NewProbe[any](t, s)
		actor.Subscribe(s, stringers.Ref())
		actor.Subscribe(s, everything.Ref())
		s.Publish(celsius(1))
		s.Publish(2)
		s.Publish(time.Second)
		stringers.Expect(celsius(1))
		stringers.Expect(time.Second)
		stringers.ExpectNone(time.Hour)
		for _, want := range []any{celsius(1), 2, time.Second} {
			everything.Expect(want)
		}
	})
}

func TestSubscribingTwiceIsSubscribingOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		actor.Subscribe(s, p.Ref())
		cancel := actor.Subscribe(s, p.Ref())
		s.Publish(1)
		p.Expect(1)
		p.ExpectNone(time.Hour)
		cancel()
		cancel()
		s.Publish(2)
		p.ExpectNone(time.Hour)
	})
}

func TestOneEndOfASubscriptionIsNotTheEndOfOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p, q := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
		cancel := actor.Subscribe(s, p.Ref())
		actor.Subscribe(s, q.Ref())
		cancel()
		s.Publish(1)
		q.Expect(1)
		p.ExpectNone(time.Hour)
	})
}

func TestASubscriptionEndsWithItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		actor.Subscribe(s, p.Ref())
		p.Stop()
		s.Publish(1)
		require.Zero(t, s.DeadLetters())
	})
}

func TestOneMaySubscribeBeforeOneIsSpawned(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		actor.Subscribe(s, actor.Resolve[int](s, "understudy://test/user/late"))
		actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			p.Ref().Tell(n)
			return behaviors.Same
		}), "late")
		s.Publish(1)
		p.Expect(1)
	})
}

func TestNobodyCannotSubscribe(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	require.PanicsWithValue(t, "actor: cannot subscribe the zero ActorRef", func() {
		actor.Subscribe(s, actor.ActorRef[int]{})
	})
}

func TestSubscriptionsMayChangeWhileEventsArePublished(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		go func() {
			for n := range 1000 {
				s.Publish(n)
			}
		}()
		for range 8 {
			go func() {
				q := actor.Spawn(s, behaviors.Ignore[int], "")
				for range 100 {
					actor.Subscribe(s, q)()
				}
			}()
		}
		settle()
		actor.Subscribe(s, p.Ref())
		s.Publish(-1)
		p.Expect(-1)
	})
}

func TestTheSubscriptionOfAnAskEndsWithIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { actor.Subscribe(s, q.replyTo) }), "")
		reply := make(chan int)
		go func() {
			n, err := actor.Ask(t.Context(), ref, ask)
			if err != nil {
				n = -1
			}
			reply <- n
		}()
		settle()
		s.Publish(7)
		require.Equal(t, 7, <-reply)
		s.Publish(8)
		settle()
		require.Zero(t, s.DeadLetters())
	})
}
