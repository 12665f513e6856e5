package singleton_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestAFactoryThatPanicsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		tries := 0
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] {
			if tries++; tries < 3 {
				panic("not yet")
			}
			return mortal()
		}), "one")
		time.Sleep(time.Second)
		ref.Tell(msg{"patience", p.Ref()})
		p.Expect("1.3 patience")
	})
}

func TestAFactoryWithoutABehaviorIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		tries := 0
		actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] { tries++; return nil }), "one")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Greater(t, tries, 1)
	})
}

func TestAnInstanceThatEscalatesIsRestartedLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		escalate := actor.Strategy{Decide: func(error) actor.Directive { return actor.Escalate }}
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] { return behaviors.Supervise(mortal(), escalate) }), "one")
		ref.Tell(msg{"fail", p.Ref()})
		synctest.Wait()
		ref.Tell(msg{"hello", p.Ref()})
		p.Expect("1.2 hello")
	})
}

func TestSupervisionInsideTheInstanceKeepsItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] { return behaviors.Supervise(mortal(), actor.Strategy{}) }), "one")
		ref.Tell(msg{"fail", p.Ref()})
		ref.Tell(msg{"hello", p.Ref()})
		p.Expect("1.1 hello")
	})
}

func TestRestartsAreDelayedMoreAndMoreUntilItRunsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		census := testkit.NewCensus(t)
		fallible := func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] { return behaviors.Stopped })
		}
		backoff := actor.Backoff{Min: time.Second, Max: 4 * time.Second}
		ref := actor.Spawn(s, behaviors.Singleton(testkit.Counted(census, fallible), singleton.RestartBackoff(backoff)), "one")
		for _, delay := range []time.Duration{1, 2, 4, 4} {
			synctest.Wait()
			ref.Tell(msg{})
			time.Sleep(delay*time.Second - time.Millisecond)
			require.Zero(t, census.Running())
			time.Sleep(time.Millisecond)
			synctest.Wait()
			require.Equal(t, 1, census.Running())
		}
		time.Sleep(backoff.ResetAfter())
		ref.Tell(msg{})
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 1, census.Running())
	})
}

func TestTheGenerationIsKnownToTheChildrenOfTheInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] {
			return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
				actor.Spawn(ctx, mortal(), "child").Tell(msg{"from a child", p.Ref()})
				return behaviors.Ignore[msg]
			})
		}), "one")
		p.Expect("1.1 from a child")
		require.Zero(t, singleton.GenerationOf(t.Context()))
	})
}

func TestShutdownOfANodeStopsTheInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		census := testkit.NewCensus(t)
		actor.Spawn(s, behaviors.Singleton(testkit.Counted(census, mortal)), "one")
		synctest.Wait()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, census.Running())
		require.Equal(t, 1, census.Started())
	})
}
