package delivery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
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
		producer.Tell(delivery.Connect[int]{Consumer: actor.Resolve[delivery.Link[int]](n1.System,
			"understudy://"+n2.Name()+"@"+n2.Address()+"/user/consumer")})
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
		actor.Resolve[delivery.Command[int]](n3.System, "understudy://"+n1.Name()+"@"+n1.Address()+"/user/producer").
			Tell(delivery.Connect[int]{Consumer: consumer})
		first := last.Receive()
		require.LessOrEqual(t, first, 301, "nothing that was not confirmed is lost")
		for i := first + 1; i <= 320; i++ {
			last.Expect(i)
		}
	})
}
