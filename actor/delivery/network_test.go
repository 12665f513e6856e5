package delivery_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/deliveryqueue"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func init() { delivery.RegisterType[int]("delivery_test.int") }

func TestMessagesToAnotherNodeSurviveCutsAndTheLossOfThatNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		n1, n2, n3 := c.Node("n1"), c.Node("n2"), c.Node("n3")
		producer := actor.Spawn(n1, delivery.Producer[int](), "producer")
		got := testkit.NewProbe[int](t, n2.System)
		actor.Spawn(n2, delivery.Consumer(confirming(got)), "consumer")
		producer.Tell(delivery.Connect[int]{Consumer: at[delivery.Link[int]](n1, n2, "consumer")})
		for i := 1; i <= 300; i++ {
			producer.Tell(delivery.Send[int]{Message: i})
			time.Sleep(10 * time.Millisecond)
			switch i {
			case 50, 150:
				c.Partition([]string{"n1"}, []string{"n2", "n3"})
			case 90, 190:
				c.Heal()
			}
		}
		for i := 1; i <= 300; i++ {
			got.Expect(i)
		}
		got.ExpectNone(2 * time.Minute) // resends are half a minute apart

		last := testkit.NewProbe[int](t, n3.System)
		c.Crash("n2")
		for i := 301; i <= 320; i++ {
			producer.Tell(delivery.Send[int]{Message: i})
		}
		time.Sleep(time.Minute)
		// The next consumer connects from where it is.
		consumer := actor.Spawn(n3, delivery.Consumer(confirming(last)), "consumer")
		at[delivery.Command[int]](n3, n1, "producer").Tell(delivery.Connect[int]{Consumer: consumer})
		first := last.Receive()
		require.LessOrEqual(t, first, 301, "nothing that was not confirmed is lost")
		for i := first + 1; i <= 320; i++ {
			last.Expect(i)
		}
	})
}

// at returns the ref of an actor of another node, as n sees it.
func at[M any](n, of *cluster.Node, name string) actor.ActorRef[M] {
	return actor.Resolve[M](n.System, "understudy://"+of.Name()+"@"+of.Address()+"/user/"+name)
}

func TestWhatIsTooLargeForTheNetworkIsRefusedOrGoesInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n1, n2 := c.Node("n1"), c.Node("n2")
		got := testkit.NewProbe[delivery.Delivery[string]](t, n2.System)
		deadLetters := dead(t, n1.System)
		large := strings.Repeat("x", 9<<19)
		for i, opts := range [][]delivery.Option{nil, {delivery.ChunkAbove(1 << 20)}} {
			name := fmt.Sprint("consumer-", i)
			actor.Spawn(n2, delivery.Consumer(texts(got), delivery.Window(5)), name)
			accepted := testkit.NewProbe[delivery.Accepted](t, n1.System)
			producer := actor.Spawn(n1, delivery.Producer[string](opts...), "")
			producer.Tell(delivery.Connect[string]{Consumer: at[delivery.Link[string]](n1, n2, name)})
			for _, msg := range []string{"before", large, "after"} {
				producer.Tell(delivery.Send[string]{Message: msg, ReplyTo: accepted.Ref()})
			}
			expectText(t, got, 1, "before")
			if i == 0 {
				expectText(t, got, 2, "after")
				expectDead(t, deadLetters, large, delivery.ErrTooLarge)
			} else {
				c.Partition([]string{"n1"}, []string{"n2"}) // perhaps in the middle
				time.Sleep(time.Second)
				c.Heal()
				time.Sleep(20 * time.Second)
				expectText(t, got, 6, large)
				expectText(t, got, 7, "after")
			}
			accepted.Expect(delivery.Accepted{Number: 1})
			accepted.Expect(delivery.Accepted{Number: uint64(i * 6)})
		}
		deadLetters.ExpectNone(time.Second)
	})
}

func TestWorkGoesOnWhereverItsProducerAndItsWorkersAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, j := clustertest.Start(t, 4), journal.NewMemory()
		done := map[int]int{}
		var mu sync.Mutex // guards done
		busy := func(per time.Duration) actor.Behavior[delivery.Delivery[int]] {
			var has delivery.Delivery[int]
			return working(func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				if d.Message != tick {
					has = d
					ctx.After("tick", per, delivery.Delivery[int]{Message: tick})
					return nil
				}
				mu.Lock()
				done[has.Message]++
				mu.Unlock()
				has.Confirm()
				return nil
			})
		}
		produce := func(n *cluster.Node) actor.ActorRef[delivery.Command[int]] {
			queue := delivery.WithQueue(deliveryqueue.New("jobs", j))
			return actor.Spawn(n, delivery.WorkPullingFor(printers, queue), "jobs")
		}
		jobs := produce(c.Node("n1"))
		for _, n := range []string{"n3", "n4"} {
			actor.Spawn(c.Node(n), delivery.Serve(printers, busy(100*time.Millisecond), delivery.Window(5)), "printer")
		}
		accepted := testkit.NewProbe[delivery.Accepted](t, c.Node("n1").System)
		for i := 1; i <= 200; i++ {
			jobs.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
		}
		time.Sleep(time.Second)
		c.Crash("n3")
		actor.Spawn(c.Node("n2"), delivery.Serve(printers, busy(100*time.Millisecond), delivery.Window(20)), "printer")
		time.Sleep(5 * time.Second) // until it has been removed
		c.Crash("n1")               // with its producer
		mu.Lock()
		require.Less(t, len(done), 200)
		mu.Unlock()
		produce(c.Node("n2"))
		time.Sleep(20 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, done, 200, "nothing is lost")
		twice := 0
		for _, times := range done {
			twice += times - 1
		}
		require.LessOrEqual(t, twice, 30, "no more than the windows is done again")
	})
}

func TestAWorkerWhoseNodeDoesNotAnswerGetsNothingNewAndKeepsWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		n1, n2 := c.Node("n1"), c.Node("n2")
		far, near := testkit.NewProbe[delivery.Delivery[int]](t, n2.System), testkit.NewProbe[int](t, n1.System)
		actor.Spawn(n2, delivery.Serve(printers, passing(far)), "printer")
		jobs := actor.Spawn(n1, delivery.WorkPullingFor(printers), "jobs")
		jobs.Tell(delivery.Send[int]{Message: 1})
		first := far.Receive()
		require.Equal(t, 1, first.Message)
		time.Sleep(time.Second)
		c.Partition([]string{"n1", "n3"}, []string{"n2"})
		time.Sleep(1500 * time.Millisecond)
		actor.Spawn(n1, delivery.Serve(printers, confirming(near)), "printer")
		time.Sleep(500 * time.Millisecond)
		for i := 2; i <= 10; i++ {
			jobs.Tell(delivery.Send[int]{Message: i})
		}
		for i := 2; i <= 10; i++ {
			near.Expect(i)
		}
		c.Heal()
		time.Sleep(5 * time.Second)
		first.Confirm()
		far.ExpectNone(time.Second)
		near.ExpectNone(time.Second)
		jobs.Tell(delivery.Send[int]{Message: 11})
		jobs.Tell(delivery.Send[int]{Message: 12})
		require.Contains(t, []int{11, 12}, far.Receive().Message, "it is one of them again")
	})
}
