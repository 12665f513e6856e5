package singleton_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

// Akka: "init can be called multiple times, if there already is a singleton manager running on this
// node, no additional manager is started, and … an ActorRef to the proxy is returned."
func TestASingletonThatIsSpawnedAgainOnANodeGivesTheRefThatThereIs(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		p := testkit.NewProbe[string](t, c.nodes["a"].System)
		counter := testkit.Counted(census, mortal)
		proxy := actor.Spawn(c.nodes["a"].System, behaviors.Singleton(counter, singleton.Buffer(10)), "GlobalCounter")
		again := actor.Spawn(c.nodes["a"].System, behaviors.Singleton(counter, singleton.Buffer(10)), "GlobalCounter")
		require.Equal(t, proxy, again)
		settle()
		require.Equal(t, proxy, actor.Spawn(c.nodes["a"].System, behaviors.Singleton(counter, singleton.Buffer(10)), "GlobalCounter"))
		again.Tell(msg{"counted", p.Ref()})
		p.Expect("1.1 counted")
		require.Equal(t, 1, census.Started())
	})
}

func TestASingletonSpawnedAgainWithOtherSettingsPanicsWithTheDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		actor.Spawn(s, behaviors.Singleton(mortal, singleton.Buffer(10)), "one")
		spawn := func(b actor.Behavior[msg]) (reason error) {
			defer func() { reason = recover().(error) }()
			actor.Spawn(s, b, "one")
			return nil
		}
		err := spawn(behaviors.Singleton(mortal, singleton.Role("worker"), singleton.Expire(time.Minute)))
		require.ErrorIs(t, err, singleton.ErrMismatch)
		require.EqualError(t, err, `actor: the name "one" is taken by a living child of /user: singleton: the name belongs to another singleton: `+
			`role was not set and is now "worker", buffer was "10" and is now "1000", expiry was "0s" and is now "1m0s"; give the same type and options each time`)

		require.PanicsWithError(t, `actor: the name "one" is taken by a living child of /user: singleton: the name belongs to another singleton: `+
			`message was singleton_test.msg and is now int; give the same type and options each time`,
			func() {
				actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[int] { return behaviors.Ignore }, singleton.Buffer(10)), "one")
			})
	})
}

func TestWhatASecondSpawnDoesNotCompareIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		spawn := func(factory func() actor.Behavior[msg], stop string, ttl time.Duration, elect func([]singleton.Candidate) (string, bool), opts ...actor.SpawnOption) actor.ActorRef[msg] {
			return actor.Spawn(s, behaviors.Singleton(factory, singleton.StopMessage(msg{Text: stop}), singleton.OnElected("first", elect),
				singleton.WithLease(lease.NewMemory().Lease("one", "a", ttl)), singleton.WithGenerations(journal.NewMemory())), "one", opts...)
		}
		first := spawn(mortal, "stop", 15*time.Second, func(c []singleton.Candidate) (string, bool) { return c[0].Name, true })
		second := spawn(parrot, "end", time.Minute, func([]singleton.Candidate) (string, bool) { return "", false }, actor.Bounded(1))
		require.Equal(t, first, second)
		second.Tell(msg{"by the first factory", p.Ref()})
		p.Expect("1.1 by the first factory")
	})
}

func TestOtherActorsDoNotShareANameWithASingleton(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		const taken = `actor: the name "one" is taken by a living child of /user; give it another name, or leave the name empty for a unique one`
		ref := actor.Spawn(s, behaviors.Singleton(mortal), "one")
		require.PanicsWithValue(t, taken, func() { actor.Spawn(s, mortal(), "one") })
		require.PanicsWithValue(t, taken, func() {
			actor.Spawn(s, behaviors.Supervise(behaviors.Singleton(mortal), actor.Strategy{}), "one")
		})
		require.True(t, strings.HasSuffix(ref.Path(), "/user/one"))
		actor.Spawn(s, mortal(), "two")
		require.Panics(t, func() { actor.Spawn(s, behaviors.Singleton(mortal), "two") })
	})
}

// A parent that stops the manager cannot spawn it again until it has ended.
func TestTheNameOfASingletonThatIsStoppingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		outcome, started, mayEnd := make(chan any, 1), make(chan struct{}), make(chan struct{})
		lasting := func() actor.Behavior[msg] {
			return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
				ctx.Defer(func() { <-mayEnd }) // or it might have ended before the second Spawn
				close(started)
				return mortal()
			})
		}
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			one := actor.Spawn(ctx, behaviors.Singleton(lasting), "one")
			<-started
			ctx.Stop(one)
			defer func() { outcome <- recover() }()
			defer close(mayEnd)
			actor.Spawn(ctx, behaviors.Singleton(mortal), "one")
			return behaviors.Same
		}), "parent")
		require.Equal(t, `actor: the name "one" is taken by a living child of /user/parent; give it another name, or leave the name empty for a unique one`, <-outcome)
	})
}
