package transport_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/internal/transport"
	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/memnet"
	identity "github.com/understudy-go/understudy/internal/node"
)

// What a node sends to the successor of a member arrives, although the member is forgotten
// meanwhile: whether this node has talked to the member or not, and however it knows of the
// successor.
func TestForgettingAnIncarnationLosesNothingForItsSuccessor(t *testing.T) {
	for name, tt := range map[string]struct{ talked, met, numbered bool }{
		"a member":                               {},
		"a member, after messages":               {talked: true},
		"a member, asked by ref":                 {numbered: true},
		"a member, by ref, after others":         {numbered: true, talked: true},
		"known by its handshake":                 {met: true},
		"known by its handshake, after messages": {met: true, talked: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				a, former := start(t, n, "a"), start(t, n, "b", incarnation())
				a.Members(a.Self(), []remote.NodeID{a.Self(), former.Self()})
				spawnAdder(former.sys)
				if tt.talked {
					require.Equal(t, 2, ask(t, ref[question](a, former, "/user/adder"), 1))
				}
				former.stop()
				time.Sleep(time.Second)

				n.Partition([]string{"b"})
				next := start(t, n, "b", incarnation())
				if tt.met {
					n.Heal()
					next.SendControl(a.Addr(), []byte("hello"))
					soon()
					n.Partition([]string{"b"})
				}
				adder := ref[question](a, next, "/user/adder")
				if local := spawnAdder(next.sys); tt.numbered {
					adder = actor.Resolve[question](a.sys, local.Path())
				}
				if !tt.met {
					a.Members(a.Self(), []remote.NodeID{a.Self(), next.Self()})
				}
				failed := make(chan error)
				go func() {
					_, err := actor.Ask(t.Context(), adder, func(reply actor.ActorRef[int]) question { return question{2, reply} })
					failed <- err
				}()
				synctest.Wait()
				a.Forget(former.Self())
				n.Heal()
				require.NoError(t, <-failed)
				require.Empty(t, a.lost.got())
			})
		})
	}
}

// What waits for a node that is gone does not wait for its deadline.
func TestForgettingTheOnlyIncarnationEndsWhatWaitsForIt(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b", incarnation())
		gone := spawnAdder(b.sys)
		n.Partition([]string{"b"})
		actor.Resolve[question](a.sys, gone.Path()).Tell(question{Number: 1})
		ref[question](a, b, "/user/adder").Tell(question{Number: 2})
		soon()
		a.Forget(b.Self())
		soon()
		require.Len(t, a.lost.got(), 2)
		for _, lost := range a.lost.got() {
			require.ErrorIs(t, lost.Reason, actor.ErrUnreachable)
		}
	})
}

// The removed node has the request, and nothing that it sends arrives any more.
func TestForgettingTheOnlyIncarnationEndsTheAsksThatItHasTaken(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b", incarnation())
		taken := make(chan int, 1)
		silent := actor.Spawn(b.sys, behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] {
			taken <- q.Number
			return behaviors.Same
		}), "silent")
		a.Members(a.Self(), []remote.NodeID{a.Self(), b.Self()})
		a.Members(a.Self(), []remote.NodeID{a.Self()})
		soon()
		failed := make(chan error)
		go func() {
			_, err := actor.Ask(context.Background(), actor.Resolve[question](a.sys, silent.Path()), func(reply actor.ActorRef[int]) question { return question{1, reply} })
			failed <- err
		}()
		require.Equal(t, 1, <-taken)
		soon()
		a.Forget(b.Self())
		require.ErrorIs(t, <-failed, actor.ErrUnreachable)
	})
}

// incarnation gives a node an incarnation that identifies its process, as nodes of clusters have.
func incarnation() func(*transport.Config) {
	return func(cfg *transport.Config) { cfg.Incarnation = identity.NewIncarnation() }
}
