package actor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

type inc struct{ reply actor.ActorRef[int] }

func count(n int) actor.Behavior[inc] {
	return behaviors.Receive(func(_ *actor.Context[inc], m inc) actor.Behavior[inc] {
		m.reply.Tell(n + 1)
		if n == 2 {
			panic("three")
		}
		return count(n + 1)
	})
}

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		p := testkit.NewProbe[int](t, s)
		r := actor.Spawn(s, behaviors.Supervise(count(0), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}), "x")
		for range 4 {
			r.Tell(inc{p.Ref()})
		}
		p.Expect(1)
		p.Expect(2)
		p.Expect(3)
		p.ExpectNone(999 * time.Millisecond)
		p.Expect(1)
	})
}
