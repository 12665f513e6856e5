package receptionist_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// job is what workers take; the empty one ends them, "fail" fails them.
type job struct{ What string }

func init() { actor.RegisterType[job]("receptionist_test.job") }

var workers = receptionist.NewKey[job]("workers")

func worker() actor.Behavior[job] {
	return behaviors.Receive(func(_ *actor.Context[job], j job) actor.Behavior[job] {
		switch j.What {
		case "":
			return behaviors.Stopped
		case "fail":
			panic("told to")
		}
		return behaviors.Same
	})
}

// listener tells probe every listing of workers.
func listener(probe *testkit.Probe[receptionist.Listing[job]]) actor.Behavior[string] {
	return behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
		ctx.Defer(receptionist.Subscribe(ctx.System(), workers, extension.Handle(ctx, func(l receptionist.Listing[job]) actor.Behavior[string] {
			probe.Ref().Tell(l)
			return nil
		})))
		return behaviors.Receive(func(_ *actor.Context[string], how string) actor.Behavior[string] {
			if how == "fail" {
				panic("told to")
			}
			return behaviors.Stopped
		})
	})
}

func TestWhatIsRegisteredIsFoundAtOnceAndNoMoreWhenDeregistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		require.Empty(t, receptionist.Find(s, workers).All())
		a := actor.Spawn(s, worker(), "a")
		b := actor.Spawn(s, worker(), "b")

		receptionist.Register(s, workers, b)
		receptionist.Register(s, workers, a)
		receptionist.Register(s, workers, a)
		l := receptionist.Find(s, workers)
		require.Equal(t, []actor.ActorRef[job]{a, b}, l.All())
		require.Equal(t, l.All(), l.Reachable())
		require.True(t, l.Instances[0].Local)
		require.NoError(t, l.Err)

		receptionist.Deregister(s, workers, a)
		receptionist.Deregister(s, workers, a)
		require.Equal(t, []actor.ActorRef[job]{b}, receptionist.Find(s, workers).All())
		require.Empty(t, receptionist.Find(s, receptionist.NewKey[job]("others")).All())
	})
}

func TestARegistrationEndsWithItsActorNotWithARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a := actor.Spawn(s, behaviors.Supervise(worker(), actor.Strategy{}), "a")
		others := receptionist.NewKey[job]("others")
		receptionist.Register(s, workers, a)
		receptionist.Register(s, others, a)

		a.Tell(job{"fail"})
		synctest.Wait()
		require.Len(t, receptionist.Find(s, workers).All(), 1)

		a.Tell(job{})
		synctest.Wait()
		require.Empty(t, receptionist.Find(s, workers).All())
		require.Empty(t, receptionist.Find(s, others).All())
		require.Zero(t, s.DeadLetters())
	})
}

func TestOneThatHasEndedBeforeItIsRegisteredDoesNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a := actor.Spawn(s, worker(), "a")
		a.Tell(job{})
		synctest.Wait()
		receptionist.Register(s, workers, a)
		synctest.Wait()
		require.Empty(t, receptionist.Find(s, workers).All())
	})
}

func TestASubscriberGetsTheListingAtOnceAndOnEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		probe := testkit.NewProbe[receptionist.Listing[job]](t, s)
		a, b := actor.Spawn(s, worker(), "a"), actor.Spawn(s, worker(), "b")
		actor.Spawn(s, listener(probe), "listener")
		require.Empty(t, probe.Receive().All())

		receptionist.Register(s, workers, a)
		require.Equal(t, []actor.ActorRef[job]{a}, probe.Receive().All())
		receptionist.Register(s, workers, a)
		receptionist.Register(s, receptionist.NewKey[job]("others"), b)
		probe.ExpectNone(time.Hour)
		receptionist.Register(s, workers, b)
		require.Equal(t, []actor.ActorRef[job]{a, b}, probe.Receive().All())
		a.Tell(job{})
		require.Equal(t, []actor.ActorRef[job]{b}, probe.Receive().All())
	})
}

func TestASubscriptionEndsWithTheSubscriberAndARestartSubscribesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		probe := testkit.NewProbe[receptionist.Listing[job]](t, s)
		l := actor.Spawn(s, behaviors.Supervise(listener(probe), actor.Strategy{}), "listener")
		require.Empty(t, probe.Receive().All())
		l.Tell("fail")
		require.Empty(t, probe.Receive().All())
		receptionist.Register(s, workers, actor.Spawn(s, worker(), "a"))
		require.Len(t, probe.Receive().All(), 1)
		probe.ExpectNone(time.Hour)

		l.Tell("stop")
		synctest.Wait()
		receptionist.Register(s, workers, actor.Spawn(s, worker(), "b"))
		probe.ExpectNone(time.Hour)
		require.Zero(t, s.DeadLetters())
	})
}

func TestASubscriptionOfARefIsCancelledAndSkipsToTheNewestListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		seen := make(chan int, 10)
		slow := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[receptionist.Listing[job]], l receptionist.Listing[job]) actor.Behavior[receptionist.Listing[job]] {
			seen <- len(l.Instances)
			time.Sleep(time.Second)
			if len(l.Instances) == 5 {
				return behaviors.Stopped
			}
			return behaviors.Same
		}), "slow", actor.Bounded(1))
		cancel := receptionist.Subscribe(s, workers, slow)
		synctest.Wait()
		for range 3 {
			receptionist.Register(s, workers, actor.Spawn(s, worker(), ""))
		}
		time.Sleep(time.Minute)
		require.Equal(t, []int{0, 3}, []int{<-seen, <-seen}, "listings in between are skipped")
		cancel()
		cancel()
		receptionist.Register(s, workers, actor.Spawn(s, worker(), ""))
		time.Sleep(time.Minute)
		require.Empty(t, seen)

		receptionist.Subscribe(s, workers, slow)
		synctest.Wait()
		require.Equal(t, 4, <-seen)
		for range 2 { // it ends with the first
			receptionist.Register(s, workers, actor.Spawn(s, worker(), ""))
			time.Sleep(time.Minute)
		}
		require.Equal(t, 5, <-seen)
		require.Empty(t, seen)
		require.Zero(t, s.DeadLetters())
		require.Panics(t, func() {
			receptionist.Subscribe(s, workers, actor.Resolve[receptionist.Listing[job]](s, "understudy://test@elsewhere:7355/user/a#1"))
		})
	})
}

func TestADiscoverableActorIsRegisteredWhenItStartsAlsoWhenItsFirstStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		tries := 0
		shaky := behaviors.Setup(func(*actor.Context[job]) actor.Behavior[job] {
			if tries++; tries == 1 {
				panic("first start")
			}
			return worker()
		})
		backoff := actor.Strategy{Backoff: actor.Backoff{Min: time.Second, Max: time.Second}}
		a := actor.Spawn(s, behaviors.Discoverable(workers, behaviors.Supervise(shaky, backoff)), "a")
		synctest.Wait()
		require.Equal(t, []actor.ActorRef[job]{a}, receptionist.Find(s, workers).All())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 2, tries)
		require.Equal(t, []actor.ActorRef[job]{a}, receptionist.Find(s, workers).All())
	})
}

func TestAnAdapterCanBeRegisteredAndEndsWithItsActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		probe := testkit.NewProbe[string](t, s)
		a := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			for range 2 {
				receptionist.Register(ctx.System(), workers, actor.Adapt(ctx, func(j job) string { return j.What }))
			}
			return behaviors.Receive(func(_ *actor.Context[string], what string) actor.Behavior[string] {
				probe.Ref().Tell(what)
				if what == "" {
					return behaviors.Stopped
				}
				return behaviors.Same
			})
		}), "a")
		synctest.Wait()
		for _, ref := range receptionist.Find(s, workers).All() {
			ref.Tell(job{"dig"})
			probe.Expect("dig")
		}
		a.Tell("")
		synctest.Wait()
		require.Empty(t, receptionist.Find(s, workers).All())
	})
}

func TestAServiceHasOneTypeAndItsActorsLiveHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a := actor.Spawn(s, worker(), "a")
		receptionist.Register(s, workers, a)
		require.PanicsWithValue(t, `receptionist: service "workers" is one of receptionist_test.job on this node, and cannot be one of string too; give it another name`,
			func() { receptionist.Find(s, receptionist.NewKey[string]("workers")) })
		require.Panics(t, func() { receptionist.Register(s, workers, actor.ActorRef[job]{}) })
		require.Panics(t, func() {
			receptionist.Register(s, workers, actor.Resolve[job](s, "understudy://test@elsewhere:7355/user/a#1"))
		})
		require.Panics(t, func() { receptionist.NewKey[job]("") })
		require.Panics(t, func() { receptionist.Find(s, receptionist.ServiceKey[job]{}) })
		require.Len(t, receptionist.Find(s, workers).All(), 1, "it still answers")
		receptionist.Deregister(s, workers, a)
		require.Empty(t, receptionist.Find(s, receptionist.NewKey[string]("workers")).All(), "the name is free again")
	})
}
