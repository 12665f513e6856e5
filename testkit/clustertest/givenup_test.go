//go:build !quick

package clustertest_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// aDose is what an apothecary answers with its number, unless that is 0.
type aDose struct {
	N       int
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[aDose]("clustertest_test.dose") }

func TestAPoisonousMessageOfAClientIsPutAsideByItsMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		var mu sync.Mutex // guards tries, mended and doses
		tries, mended, doses := 0, false, []int{}
		apothecary := func() actor.Behavior[aDose] {
			return behaviors.Receive(func(ctx *actor.Context[aDose], d aDose) actor.Behavior[aDose] {
				mu.Lock()
				defer mu.Unlock()
				if d.N == 0 {
					if tries++; !mended {
						return ctx.Fail(errors.New("poison"))
					}
				}
				doses = append(doses, d.N)
				d.ReplyTo.Tell(d.N)
				return behaviors.Same
			})
		}
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(apothecary, singleton.AtLeastOnce(20)), "apothecary")
		}
		c.AwaitQuiet()
		client := c.Dial("client")
		ref, p := singleton.Ref[aDose](client.System, "apothecary"), testkit.NewProbe[int](t, client.System)
		for n := range 100 {
			if n == 50 {
				ref.Tell(aDose{N: 0})
			}
			ref.Tell(aDose{n + 1, p.Ref()})
		}
		for n := range 100 {
			p.Expect(n + 1)
		}
		_, err := actor.Ask(t.Context(), ref, func(to actor.ActorRef[int]) aDose { return aDose{0, to} })
		require.ErrorIs(t, err, singleton.ErrGivenUp)
		require.ErrorContains(t, err, "poison")
		time.Sleep(time.Minute)
		mu.Lock()
		require.Equal(t, 6, tries)
		mended = true
		mu.Unlock()
		require.Equal(t, 2, resendAll(t, c.Nodes()))
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, 8, tries)
		require.Equal(t, []int{0, 0}, doses[100:])
		require.Zero(t, resendAll(t, c.Nodes()))
	})
}

// resendAll sends all messages again that were given up. It returns how many there were.
func resendAll(t *testing.T, nodes []*cluster.Node) (n int) {
	t.Helper()
	for _, node := range nodes {
		for _, m := range singleton.ListGivenUp(node.System) {
			require.ErrorContains(t, m.Reason, "poison")
			require.NoError(t, singleton.Resend(node.System, m.Number))
			n++
		}
	}
	return n
}
