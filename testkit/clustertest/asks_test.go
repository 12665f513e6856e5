//go:build !quick

package clustertest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A petition fails in the way that its mood says.
type petition struct {
	Mood    mood
	ReplyTo actor.ActorRef[int]
}

type mood string

const (
	cheerful  mood = "cheerful"
	unwilling mood = "cannot be encoded"
	garbled   mood = "cannot be decoded"
	refused   mood = "is dropped by its handler"
	passedOn  mood = "is passed on to one that has ended"
)

var (
	errMood   = errors.New("not in this mood")
	errNotNow = errors.New("come again tomorrow")
)

func (m mood) MarshalCBOR() ([]byte, error) {
	if m == unwilling {
		return nil, errMood
	}
	return append([]byte{0x78, byte(len(m))}, m...), nil
}

func (m *mood) UnmarshalCBOR(data []byte) error {
	if *m = mood(data[2:]); *m == garbled && decodings.Add(-1) < 0 {
		return errMood
	}
	return nil
}

// decodings is how often a garbled message can still be decoded. The check of the sending node must
// succeed.
var decodings atomic.Int32

func init() {
	actor.RegisterType[petition]("clustertest_test.petition")
	actor.RegisterError("clustertest_test.not-now", errNotNow)
}

func office() actor.Behavior[petition] {
	return behaviors.Setup(func(ctx *actor.Context[petition]) actor.Behavior[petition] {
		gone := actor.Spawn(ctx, behaviors.Stopped[petition], "gone")
		return behaviors.Receive(func(ctx *actor.Context[petition], p petition) actor.Behavior[petition] {
			switch p.Mood {
			case refused:
				extension.DeadLetter(ctx.System(), ctx.Self().Path(), p, errNotNow)
			case passedOn:
				gone.Tell(p)
			case cheerful, unwilling, garbled:
				p.ReplyTo.Tell(42)
			}
			return behaviors.Same
		})
	})
}

// unencoded is clustertest.WithoutEncoding of a client.
func unencoded(cfg *cluster.ClientConfig) {
	cfg.SystemOptions = append(cfg.SystemOptions, testkit.WithoutEncoding())
}

// Each way leads from one node to an actor on another.
func waysOfAsking() map[string]func(c *clustertest.Cluster) actor.ActorRef[petition] {
	key := receptionist.NewKey[petition]("offices")
	news := topic.New[petition]("petitions")
	far := func(c *clustertest.Cluster) actor.ActorRef[petition] {
		ref := actor.Spawn(c.Node("n1").System, office(), "office")
		return actor.Resolve[petition](c.Node("n2").System, ref.Path())
	}
	return map[string]func(c *clustertest.Cluster) actor.ActorRef[petition]{
		"an actor": far,
		"a singleton": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(office), "office")
			time.Sleep(3 * time.Second)
			return actor.Spawn(c.Node("n2").System, behaviors.Singleton(office), "office")
		},
		"a singleton with at least once": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(office, singleton.AtLeastOnce(10)), "office")
			time.Sleep(3 * time.Second)
			return actor.Spawn(c.Node("n2").System, behaviors.Singleton(office, singleton.AtLeastOnce(10)), "office")
		},
		"a group": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			receptionist.Register(c.Node("n1").System, key, actor.Spawn(c.Node("n1").System, office(), "office"))
			time.Sleep(3 * time.Second)
			return actor.Spawn(c.Node("n2").System, router.Group(key), "group")
		},
		"a pool elsewhere": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			ref := actor.Spawn(c.Node("n1").System, router.Pool(2, office()), "pool")
			return actor.Resolve[petition](c.Node("n2").System, ref.Path())
		},
		"a topic": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			news.Subscribe(c.Node("n1").System, actor.Spawn(c.Node("n1").System, office(), "office"))
			time.Sleep(3 * time.Second)
			return actor.Spawn(c.Node("n2").System, behaviors.Receive(func(ctx *actor.Context[petition], p petition) actor.Behavior[petition] {
				news.Publish(ctx.System(), p)
				return behaviors.Same
			}), "publisher")
		},
		"an adapter": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			to := far(c)
			refs := make(chan actor.ActorRef[petition], 1)
			actor.Spawn(c.Node("n2").System, behaviors.Setup(func(ctx *actor.Context[*petition]) actor.Behavior[*petition] {
				refs <- actor.Adapt(ctx, func(p petition) *petition { return &p })
				return behaviors.Receive(func(_ *actor.Context[*petition], p *petition) actor.Behavior[*petition] {
					to.Tell(*p)
					return behaviors.Same
				})
			}), "")
			return <-refs
		},
		"a client": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			ref := actor.Spawn(c.Node("n1").System, office(), "office")
			return actor.Resolve[petition](c.Dial("visitor", unencoded).System, ref.Path())
		},
		"a client of a singleton": func(c *clustertest.Cluster) actor.ActorRef[petition] {
			actor.Spawn(c.Node("n1").System, behaviors.Singleton(office), "office")
			time.Sleep(3 * time.Second)
			to := singleton.Ref[petition](c.Dial("visitor", unencoded).System, "office")
			time.Sleep(3 * time.Second)
			return to
		},
	}
}

func TestAnAskWhoseMessageIsADeadLetterEndsWithTheReasonWhicheverWayItWent(t *testing.T) {
	for name, way := range waysOfAsking() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2, clustertest.WithoutEncoding())
				to := way(c)
				in := func(m mood) error {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					begin := time.Now()
					got, err := actor.Ask(ctx, to, func(r actor.ActorRef[int]) petition { return petition{m, r} })
					require.Less(t, time.Since(begin), time.Second, "%s: %v", m, err)
					if err == nil {
						require.Equal(t, 42, got)
					}
					return err
				}
				for range 2 {
					require.NoError(t, in(cheerful))
					require.ErrorIs(t, in(unwilling), actor.ErrNotSerializable)
					require.NoError(t, in(cheerful), "the way works afterwards")
					decodings.Store(1)
					require.ErrorIs(t, in(garbled), actor.ErrNotDecodable)
					require.NoError(t, in(cheerful), "the way works afterwards")
					require.ErrorIs(t, in(refused), errNotNow)
					require.ErrorIs(t, in(passedOn), actor.ErrTerminated)
				}
			})
		})
	}
}

func TestAnAskOfASingletonEndsWithTheReasonOfItsManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		nowhere := actor.Spawn(c.Node("n2").System, behaviors.Singleton(office, singleton.Role("nobody's"), singleton.Buffer(1)), "nowhere")
		first := make(chan error)
		go func() {
			_, err := actor.Ask(context.Background(), nowhere, func(r actor.ActorRef[int]) petition { return petition{cheerful, r} })
			first <- err
		}()
		synctest.Wait()
		nowhere.Tell(petition{}) // the oldest gives way
		require.ErrorIs(t, <-first, singleton.ErrBufferFull)
		require.ErrorContains(t, actorErr(t, c), "clustertest_test.petition")
	})
}

// actorErr returns the error of an ask of a singleton that takes other messages.
func actorErr(t *testing.T, c *clustertest.Cluster) error {
	actor.Spawn(c.Node("n1").System, behaviors.Singleton(office), "office")
	time.Sleep(3 * time.Second)
	to := actor.Resolve[ticket](c.Node("n2").System, "understudy://"+c.Node("n1").Name()+"@"+c.Node("n1").Address()+"/user/office")
	_, err := actor.Ask(t.Context(), to, func(r actor.ActorRef[stub]) ticket { return ticket{1, r} })
	require.ErrorIs(t, err, actor.ErrWrongType)
	return err
}

// An ask does not end because one of several recipients cannot be reached: the others may reply.
func TestAnAskThatIsPublishedEndsWithTheReplyOfWhoeverCanBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		news := topic.New[petition]("petitions")
		deaf := actor.Spawn(c.Node("n1").System, behaviors.Receive(func(ctx *actor.Context[petition], p petition) actor.Behavior[petition] {
			extension.DeadLetter(ctx.System(), ctx.Self().Path(), p, errNotNow)
			return behaviors.Same
		}), "deaf")
		slow := actor.Spawn(c.Node("n3").System, behaviors.Receive(func(_ *actor.Context[petition], p petition) actor.Behavior[petition] {
			time.AfterFunc(time.Minute, func() { p.ReplyTo.Tell(42) })
			return behaviors.Same
		}), "slow")
		news.Subscribe(c.Node("n1").System, deaf)
		news.Subscribe(c.Node("n3").System, slow)
		time.Sleep(3 * time.Second)
		publisher := actor.Spawn(c.Node("n2").System, behaviors.Receive(func(ctx *actor.Context[petition], p petition) actor.Behavior[petition] {
			news.Publish(ctx.System(), p)
			return behaviors.Same
		}), "publisher")
		for _, node := range []string{"n2", "n1"} { // also with the ask on another node than the publisher
			to := actor.Resolve[petition](c.Node(node).System, publisher.Path())
			got, err := actor.Ask(t.Context(), to, func(r actor.ActorRef[int]) petition { return petition{cheerful, r} })
			require.NoError(t, err)
			require.Equal(t, 42, got)
		}
	})
}

// The last messages to a node that ends in order are taken by nobody. Their asks end all the same,
// however the node is addressed, and whether it hands over or not.
func TestNoAskOutlivesANodeThatEnds(t *testing.T) {
	for name, end := range map[string]func(n *cluster.Node) error{
		"leave":    func(n *cluster.Node) error { return n.Leave(context.Background()) },
		"shutdown": func(n *cluster.Node) error { return n.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 3)
				clerk := actor.Spawn(c.Node("n1"), office(), "office")
				byPath := actor.Resolve[petition](c.Node("n3").System, clerk.Path())
				byNumber := actor.Resolve[petition](c.Node("n3").System, clerk.String())
				var asks sync.WaitGroup
				var open, failed atomic.Int32
				askBoth := func() {
					for _, ref := range []actor.ActorRef[petition]{byPath, byNumber} {
						open.Add(1)
						asks.Go(func() {
							if _, err := actor.Ask(context.Background(), ref, func(r actor.ActorRef[int]) petition { return petition{cheerful, r} }); err != nil {
								failed.Add(1)
								if !errors.Is(err, actor.ErrUnreachable) {
									t.Errorf("an ask ended with %v", err)
								}
							}
							open.Add(-1)
						})
					}
				}
				ended := make(chan struct{})
				var asking sync.WaitGroup
				asking.Go(func() {
					for over := false; !over; {
						askBoth()
						select {
						case <-ended:
							over = len(c.Node("n3").View().Members) == 2
						default:
						}
						time.Sleep(300 * time.Microsecond)
					}
				})
				time.Sleep(20 * time.Millisecond)
				require.NoError(t, end(c.Node("n1")))
				close(ended)
				asking.Wait()
				time.Sleep(time.Minute)
				require.Zero(t, open.Load())
				require.Positive(t, failed.Load())
				asks.Wait()
			})
		})
	}
}
