package topic_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

type price struct {
	Of     string
	Amount int
}

func init() { actor.RegisterType[price]("topic_test.price") }

var (
	fruit      = topic.New[price]("fruit")
	vegetables = topic.New[price]("vegetables")
	apples     = price{"apples", 3}
	pears      = price{"pears", 4}
)

func TestWhatIsPublishedReachesEachSubscriberOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a, b := testkit.NewProbe[price](t, s), testkit.NewProbe[price](t, s)
		other := testkit.NewProbe[price](t, s)
		fruit.Subscribe(s, a.Ref())
		fruit.Subscribe(s, a.Ref())
		cancel := fruit.Subscribe(s, b.Ref())
		vegetables.Subscribe(s, other.Ref())
		require.Equal(t, topic.Stats{Subscribers: 2, Nodes: 1}, fruit.Stats(s))

		fruit.Publish(s, apples)
		a.Expect(apples)
		b.Expect(apples)
		cancel()
		cancel()
		fruit.Publish(s, pears)
		a.Expect(pears)
		a.ExpectNone(time.Hour)
		b.ExpectNone(time.Hour)
		other.ExpectNone(time.Hour)
		require.Zero(t, s.DeadLetters())
	})
}

func TestASubscriptionEndsWithItsActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a := testkit.NewProbe[price](t, s)
		fruit.Subscribe(s, a.Ref())
		a.Stop()
		synctest.Wait()
		require.Zero(t, fruit.Stats(s))
		fruit.Subscribe(s, a.Ref())
		require.Zero(t, fruit.Stats(s), "it had ended before")
	})
}

func TestWhatNobodyWantsIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		dead := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, dead.Ref())
		fruit.Publish(s, apples)
		dead.Expect(actor.DeadLetter{Recipient: "topic fruit", Message: apples, Reason: topic.ErrNoSubscribers})
	})
}

func TestOneWhoSubscribesAndUnsubscribesAgainAndAgainGetsWhatItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a := testkit.NewProbe[price](t, s)
		for i := range 100 {
			cancel := fruit.Subscribe(s, a.Ref())
			fruit.Publish(s, price{"apples", i})
			cancel()
			a.Expect(price{"apples", i})
		}
		synctest.Wait()
		require.Zero(t, fruit.Stats(s))
		require.Empty(t, receptionist.Find(s, receptionist.NewKey[price]("topic:fruit")).Instances)
	})
}

func TestATopicHasOneTypeAndSubscribersLiveHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a, text := testkit.NewProbe[price](t, s), testkit.NewProbe[string](t, s)
		cancel := fruit.Subscribe(s, a.Ref())
		require.Panics(t, func() { topic.New[string]("fruit").Subscribe(s, text.Ref()) })
		require.Panics(t, func() { topic.New[string]("fruit").Publish(s, "x") })
		require.Panics(t, func() { topic.New[string]("") })
		require.PanicsWithValue(t, `topic: cannot subscribe "understudy://test@n9:7355/user/a" to "fruit": it is no actor of this node; subscribe it on its own`,
			func() { fruit.Subscribe(s, actor.Resolve[price](s, "understudy://test@n9:7355/user/a#1")) })
		require.Panics(t, func() { fruit.Subscribe(s, actor.ActorRef[price]{}) })
		cancel()
		synctest.Wait()
		topic.New[string]("fruit").Subscribe(s, text.Ref())
		topic.New[string]("fruit").Publish(s, "the name was free again")
		text.Expect("the name was free again")
	})
}

func TestATopicReachesEveryNodeThatHasSubscribersOnceAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		n1, n2, n3 := c.Node("n1"), c.Node("n2"), c.Node("n3")
		here := testkit.NewProbe[price](t, n1.System)
		first, second := testkit.NewProbe[price](t, n2.System), testkit.NewProbe[price](t, n2.System)
		fruit.Subscribe(n1.System, here.Ref())
		cancel := fruit.Subscribe(n2.System, first.Ref())
		fruit.Subscribe(n2.System, second.Ref())
		time.Sleep(time.Second)
		require.Equal(t, topic.Stats{Subscribers: 1, Nodes: 2}, fruit.Stats(n1.System))
		require.Equal(t, topic.Stats{Nodes: 2}, fruit.Stats(n3.System))

		for i := range 1000 {
			fruit.Publish(n1.System, price{"apples", i})
			fruit.Publish(n3.System, price{"pears", i})
		}
		for _, p := range []*testkit.Probe[price]{here, first, second} {
			next := map[string]int{}
			for range 2000 {
				got := p.Receive()
				require.Equal(t, next[got.Of], got.Amount)
				next[got.Of]++
			}
			p.ExpectNone(time.Minute)
		}

		cancel()
		second.Stop()
		time.Sleep(time.Second)
		require.Equal(t, topic.Stats{Subscribers: 1, Nodes: 1}, fruit.Stats(n1.System))
		fruit.Publish(n3.System, apples)
		here.Expect(apples)
		for _, n := range c.Nodes() {
			require.Zero(t, n.DeadLetters())
		}
	})
}

func TestATopicGoesOnAfterAPartitionACrashAndForNewNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		probes := map[string]*testkit.Probe[price]{}
		subscribe := func(name string) {
			s := c.Node(name).System
			probes[name] = testkit.NewProbe[price](t, s)
			fruit.Subscribe(s, probes[name].Ref())
		}
		for _, name := range []string{"n1", "n2", "n3"} {
			subscribe(name)
		}
		everywhere := func(what string) {
			t.Helper()
			time.Sleep(time.Second)
			fruit.Publish(c.Node("n1").System, price{Of: what})
			for _, n := range c.Nodes() {
				probes[n.View().Self.Name].Expect(price{Of: what})
			}
		}
		everywhere("at first")
		c.Partition([]string{"n1", "n2"}, []string{"n3"})
		time.Sleep(time.Minute)
		fruit.Publish(c.Node("n2").System, price{Of: "one side"})
		probes["n1"].Expect(price{Of: "one side"})
		probes["n2"].Expect(price{Of: "one side"})
		fruit.Publish(c.Node("n3").System, price{Of: "the other"})
		probes["n3"].Expect(price{Of: "the other"})
		c.Heal()
		c.AwaitQuiet()
		everywhere("healed")
		c.Restart("n2")
		subscribe("n2")
		everywhere("restarted")
		c.Add("n4")
		subscribe("n4")
		everywhere("joined")
		c.Leave("n3")
		everywhere("left")
	})
}

// weight is the type that another node uses for prices.
type weight struct{ Grams int }

func init() { actor.RegisterType[weight]("topic_test.weight") }

func TestATopicOfAnotherTypeOnAnotherNodeIsAClearError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n1, n2 := c.Node("n1").System, c.Node("n2").System
		wrong := testkit.NewProbe[receptionist.Mismatch](t, n2)
		actor.Subscribe(n2, wrong.Ref())
		probe := testkit.NewProbe[weight](t, n1)
		topic.New[weight]("fruit").Subscribe(n1, probe.Ref())
		time.Sleep(time.Second)

		fruit.Publish(n2, apples)
		m := wrong.Receive()
		require.Equal(t, "topic:fruit", m.Service)
		require.ErrorIs(t, m.Err, actor.ErrWrongType)
		probe.ExpectNone(time.Minute)
		require.Equal(t, uint64(1), n2.DeadLetters())
	})
}

func TestManyTopicsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		probe := testkit.NewProbe[price](t, s)
		for i := range 1000 {
			room := topic.New[price](fmt.Sprint("room ", i))
			cancel := room.Subscribe(s, probe.Ref())
			room.Publish(s, apples)
			probe.Expect(apples)
			cancel()
		}
		synctest.Wait()
		require.Zero(t, topic.Topics(s))
	})
}

func BenchmarkPublish(b *testing.B) {
	s := actor.NewSystem("bench")
	for range 10 {
		fruit.Subscribe(s, actor.Spawn(s, behaviors.Ignore[price], ""))
	}
	b.ReportAllocs()
	for b.Loop() {
		fruit.Publish(s, apples)
	}
}
