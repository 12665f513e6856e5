//go:build !quick

package clustertest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A nil that is sent to an actor of an interface type is a message, however it was sent.
func TestANilIsAMessageWhicheverWayItComes(t *testing.T) {
	key := receptionist.NewKey[any]("takers")
	news := topic.New[any]("anything")
	type taker func() actor.Behavior[any]
	for name, tell := range map[string]func(t *testing.T, c *clustertest.Cluster, b taker){
		"on this node": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, b(), "").Tell(nil)
		},
		"to another node": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			ref := actor.Spawn(c.Node("n1").System, b(), "")
			actor.Resolve[any](c.Node("n2").System, ref.String()).Tell(nil)
		},
		"by a path": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Resolve[any](c.Node("n1").System, actor.Spawn(c.Node("n1").System, b(), "x").Path()).Tell(nil)
		},
		"from a client": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			ref := actor.Spawn(c.Node("n1").System, b(), "")
			actor.Resolve[any](c.Dial("visitor").System, ref.String()).Tell(nil)
		},
		"to a singleton here": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(b), "one").Tell(nil)
		},
		"to a singleton elsewhere": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(b), "one")
			time.Sleep(3 * time.Second)
			actor.Spawn(c.Node("n2").System, behaviors.Singleton(b), "one").Tell(nil)
		},
		"to a singleton elsewhere, at least once": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(b, singleton.AtLeastOnce(5)), "one")
			time.Sleep(3 * time.Second)
			actor.Spawn(c.Node("n2").System, behaviors.Singleton(b, singleton.AtLeastOnce(5)), "one").Tell(nil)
		},
		"to a singleton from a client": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(b), "one")
			time.Sleep(3 * time.Second)
			singleton.Ref[any](c.Dial("visitor").System, "one").Tell(nil)
		},
		"through a group": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			receptionist.Register(c.Node("n1").System, key, actor.Spawn(c.Node("n1").System, b(), ""))
			time.Sleep(3 * time.Second)
			actor.Spawn(c.Node("n2").System, router.Group(key), "").Tell(nil)
		},
		"through a pool": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n2").System, router.Pool(2, b(), router.SmallestMailbox()), "").Tell(nil)
		},
		"through a topic": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			news.Subscribe(c.Node("n1").System, actor.Spawn(c.Node("n1").System, b(), ""))
			time.Sleep(3 * time.Second)
			news.Publish(c.Node("n2").System, nil)
		},
		"through an adapter": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Setup(func(ctx *actor.Context[any]) actor.Behavior[any] {
				actor.Adapt(ctx, func(m any) any { return m }).Tell(nil)
				return b()
			}), "")
		},
		"by reliable delivery": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			to := actor.Spawn(c.Node("n1").System, b(), "")
			consumer := actor.Spawn(c.Node("n1").System, delivery.Consumer(behaviors.Receive(func(_ *actor.Context[delivery.Delivery[any]], d delivery.Delivery[any]) actor.Behavior[delivery.Delivery[any]] {
				to.Tell(d.Message)
				d.Confirm()
				return behaviors.Same
			})), "")
			producer := actor.Spawn(c.Node("n2").System, delivery.Producer[any](), "")
			producer.Tell(delivery.Connect[any]{Consumer: consumer})
			producer.Tell(delivery.Send[any]{Message: nil})
		},
		"by a timer": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Setup(func(ctx *actor.Context[any]) actor.Behavior[any] {
				ctx.After("nil", time.Second, nil)
				return b()
			}), "")
		},
		"out of a stash": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.WithStash(1, func(stash *actor.Stash[any]) actor.Behavior[any] {
				return behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
					stash.Stash(m)
					return stash.UnstashAll(b())
				})
			}), "").Tell(nil)
		},
		"through a transformation": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Transform(b(), func(m any) (any, bool) { return m, true }), "").Tell(nil)
		},
		"piped": func(_ *testing.T, c *clustertest.Cluster, b taker) {
			actor.Spawn(c.Node("n1").System, behaviors.Setup(func(ctx *actor.Context[any]) actor.Behavior[any] {
				actor.AskToSelf(ctx, actor.Resolve[any](ctx.System(), "understudy://"+ctx.System().Name()+"/user/nobody"), 0,
					func(r actor.ActorRef[any]) any { return r }, func(any, error) any { return nil })
				return b()
			}), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2, clustertest.WithoutEncoding()) // a ref is sent as a message
				got := make(chan any, 1)
				tell(t, c, func() actor.Behavior[any] {
					return behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
						got <- m
						return behaviors.Same
					})
				})
				select {
				case m := <-got:
					require.Nil(t, m)
				case <-time.After(time.Minute):
					t.Fatal("it has not come")
				}
			})
		})
	}
}

// A nilable is taken by its pointer.
type nilable struct{ N int }

func init() { actor.RegisterType[*nilable]("clustertest_test.nilable") }

func TestANilPointerIsAMessageOnAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		got := make(chan *nilable, 2)
		ref := actor.Spawn(c.Node("n1").System, behaviors.Receive(func(_ *actor.Context[*nilable], m *nilable) actor.Behavior[*nilable] {
			got <- m
			return behaviors.Same
		}), "")
		to := actor.Resolve[*nilable](c.Node("n2").System, ref.String())
		to.Tell(nil)
		require.Nil(t, <-got)
		to.Tell(&nilable{1})
		require.Equal(t, 1, (<-got).N)
	})
}
