package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestStatusTellsEachPhaseAndWhy(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		gate := make(chan struct{})
		slow := func() actor.Behavior[msg] {
			return behaviors.Receive(func(*actor.Context[msg], msg) actor.Behavior[msg] {
				<-gate
				return behaviors.Same
			})
		}
		refs := onAll(c, slow)
		refs["a"].Tell(msg{})
		settle()
		require.Equal(t, singleton.Pending, a.status("one").Phase)
		require.Equal(t, 1, a.status("one").Held)
		require.Empty(t, a.status("one").Host)

		c.net.losing(cut("b"))
		c.change(func() { a.peer.Up, b.peer.Up = true, true })
		asked := time.Now()
		settle()
		require.Equal(t, singleton.Asking, a.status("one").Phase)
		require.Equal(t, []string{"b"}, a.status("one").WaitingFor)
		require.Equal(t, "a", a.status("one").Host)
		require.False(t, a.status("one").Here)
		require.Equal(t, asked, a.status("one").Since)

		c.net.losing(nil)
		time.Sleep(time.Second)
		require.Equal(t, singleton.Host, a.status("one").Phase)
		require.True(t, a.status("one").Here)
		require.Empty(t, a.status("one").WaitingFor)
		require.NotZero(t, a.status("one").Generation)
		require.Equal(t, singleton.Standby, b.status("one").Phase)
		require.Equal(t, "a", b.status("one").Host)
		require.False(t, b.status("one").Here)

		c.startLeaving("a")
		settle()
		require.Equal(t, singleton.HandingOver, a.status("one").Phase)
		require.True(t, a.status("one").Here)
		c.removed(a)
		c.showTo(a, b)
		settle()
		require.Equal(t, singleton.Stopping, a.status("one").Phase)
		close(gate)
		settle()
		require.Equal(t, singleton.Pending, a.status("one").Phase)
		require.Equal(t, []singleton.Status{a.status("one")}, singleton.Statuses(a.System))
	})
}

func TestStatusOfWhatIsNotThereIsNotThere(t *testing.T) {
	inCluster(t, []string{"a"}, func(t *testing.T, c *cluster) {
		_, ok := singleton.StatusOf(c.nodes["a"].System, "one")
		require.False(t, ok)
		require.Empty(t, singleton.Statuses(c.nodes["a"].System))
		onAll(c, parrot)
		settle()
		_, ok = singleton.StatusOf(c.nodes["a"].System, "another")
		require.False(t, ok)
		_, ok = singleton.StatusOf(testkit.NewSystem(t, testkit.WithoutEncoding()), "one")
		require.False(t, ok)
	})
}
