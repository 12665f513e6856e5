package actor_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// numbers returns from, from+1, … to-1.
func numbers(from, to int) (all []any) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func TestAMailboxThatBlocksKeepsWhatComesFromOtherNodesInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref, release := blocked(s, p, actor.Bounded(1).Block(time.Minute))
		start := time.Now()
		extension.DispatchAll(s, "/user/blocked", uidOf(t, ref), numbers(1, 50), nil)
		extension.Dispatch(s, "/user/blocked", 0, 50)
		require.Zero(t, time.Since(start))
		go ref.Tell(51)
		settle()
		extension.Dispatch(s, "/user/blocked", 0, 52)
		close(release)
		for n := range 53 {
			p.Expect(n)
		}
		require.Zero(t, s.DeadLetters())
	})
}

func TestWhatHasWaitedInAMailboxThatBlocksForTooLongIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		dead := deadLetters(t, s)
		ref, release := blocked(s, p, actor.Bounded(1).Block(time.Minute))
		defer close(release)
		extension.DispatchAll(s, "/user/blocked", uidOf(t, ref), numbers(1, 3), nil)
		time.Sleep(10 * time.Second)
		extension.Dispatch(s, "/user/blocked", 0, 3)
		dead.ExpectNone(49 * time.Second)
		for n := range 2 {
			start := time.Now()
			lost := dead.Receive()
			require.Equal(t, time.Second, time.Since(start))
			require.Equal(t, n+2, lost.Message)
			require.Equal(t, ref.String(), lost.Recipient)
			require.ErrorIs(t, lost.Reason, actor.ErrMailboxFull)
			time.Sleep(9 * time.Second)
		}
	})
}

func TestAMailboxThatBlocksKeepsSoManyMessagesAndSoManyBytes(t *testing.T) {
	const most, mostBytes = 10_000, 16 << 20
	for name, test := range map[string]struct{ sent, size, kept int }{
		"messages":          {most + 10, 10, most},
		"bytes":             {100, mostBytes / 10, 10},
		"at least one":      {3, 2 * mostBytes, 1},
		"all that has room": {5, 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				ref, release := blocked(s, p, actor.Bounded(1).Block(time.Minute))
				full := func() (n int) {
					for reason, count := range s.DeadLettersByReason() {
						if errors.Is(reason, actor.ErrMailboxFull) {
							n = int(count)
						}
					}
					return n
				}
				sizes := make([]int, test.sent)
				for i := range sizes {
					sizes[i] = test.size
				}
				ref.Tell(1) // fills the mailbox
				extension.DispatchAll(s, "/user/blocked", 0, numbers(2, test.sent+2), sizes)
				require.Equal(t, test.sent-test.kept, full())
				close(release)
				for n := range test.kept + 2 {
					p.Expect(n)
				}
				require.Equal(t, test.sent-test.kept, full())
			})
		})
	}
}

func TestWhatIsParkedIsDeadLettersWhenTheActorEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		release := make(chan struct{})
		ref := actor.Spawn(s, stopsAt(release), "ends", actor.Bounded(1).Block(time.Hour))
		ref.Tell(0)
		settle()
		var delivered error
		extension.DispatchAll(s, "/user/ends", 0, numbers(1, 4), nil)
		extension.Deliver(ref, 4, func(err error) { delivered = err })
		close(release)
		for n := range 3 {
			lost := dead.Receive()
			require.Equal(t, n+1, lost.Message)
			require.ErrorIs(t, lost.Reason, actor.ErrTerminated)
		}
		settle()
		require.ErrorIs(t, delivered, actor.ErrTerminated)
	})
}

func TestTheEndOfAWatchedActorComesAfterWhatItHasToldAMailboxThatBlocks(t *testing.T) {
	for name, watch := range map[string]func(ctx *actor.Context[int], ref actor.AnyRef){
		"signal":  func(ctx *actor.Context[int], ref actor.AnyRef) { ctx.Watch(ref) },
		"message": func(ctx *actor.Context[int], ref actor.AnyRef) { ctx.WatchWith(ref, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				talker := actor.Spawn(s, obedient(), "")
				release := make(chan struct{})
				actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
					watch(ctx, talker)
					return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
						<-release
						p.Ref().Tell(n)
						return behaviors.Same
					}).OnSignal(func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
						if _, ended := sig.(actor.Terminated); ended {
							p.Ref().Tell(-1)
						}
						return behaviors.Same
					})
				}), "listener", actor.Bounded(2).Block(time.Minute))
				settle()
				talker.Tell(func(*actor.Context[order]) actor.Behavior[order] {
					extension.DispatchAll(s, "/user/listener", 0, numbers(0, 20), nil) // as the lane from its node does
					return behaviors.Stopped
				})
				settle()
				close(release)
				for n := range 20 {
					p.Expect(n)
				}
				p.Expect(-1)
			})
		})
	}
}

func TestAnActorIsDrainedOfWhatIsParked(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		release := make(chan struct{})
		var child actor.ActorRef[int]
		parent := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			child = actor.Spawn(ctx, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				<-release
				p.Ref().Tell(n)
				return behaviors.Same
			}), "child", actor.Bounded(1).Block(time.Minute))
			return obedient()
		}), "parent")
		settle()
		extension.DispatchAll(s, "/user/parent/child", 0, numbers(0, 10), nil)
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Drain(child) }))
		settle()
		close(release)
		for n := range 10 {
			p.Expect(n)
		}
		p.ExpectTerminated(child)
		require.Zero(t, s.DeadLetters())
	})
}

func TestWhoAsksAMailboxThatBlocksWaitsNoLongerThanItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref, release := stuck(s, actor.Bounded(1).Block(time.Hour))
		defer release()
		dead := deadLetters(t, s)
		ref.Tell(question{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := actor.Ask(ctx, ref, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, actor.ErrMailboxFull)
		require.EqualError(t, err, "ask understudy://test/user/stuck: nothing was asked: context deadline exceeded: actor: the request was withdrawn, because its ask has ended: actor: mailbox is full")
		require.Equal(t, time.Second, time.Since(start))
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrMailboxFull)
	})
}

func TestAskToSelfDoesNotWaitForRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref, release := stuck(s, actor.Bounded(1).Block(time.Minute))
		defer release()
		ref.Tell(question{})
		p := testkit.NewProbe[string](t, s)
		outcomes := testkit.NewProbe[error](t, s)
		asker := actor.Spawn(s, obedient(), "")
		asker.Tell(do(func(ctx *actor.Context[order]) {
			actor.AskToSelf(ctx, ref, time.Hour, ask, func(_ int, err error) order {
				return do(func(*actor.Context[order]) { outcomes.Ref().Tell(err) })
			})
		}))
		start := time.Now()
		asker.Tell(say(p, "free"))
		p.Expect("free")
		require.Zero(t, time.Since(start))
		time.Sleep(time.Minute)
		err := outcomes.Receive()
		require.ErrorIs(t, err, actor.ErrMailboxFull)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

// An actor of the framework that sends to actors of users never waits for them: one slow actor
// would slow down all others that it serves.
func TestNothingOfTheFrameworkWaitsInAMailboxThatBlocks(t *testing.T) {
	const each = 20
	service := receptionist.NewKey[int]("slow")
	news := topic.New[int]("news")
	all := func(int) bool { return true }
	// Each tells both actors that many messages.
	for name, tell := range map[string]func(s *actor.System, slow, quick actor.ActorRef[int]){
		"event stream": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			actor.Subscribe(s, slow)
			actor.Subscribe(s, quick)
			for i := range each {
				s.Publish(i)
			}
		},
		"Deliver": func(_ *actor.System, slow, quick actor.ActorRef[int]) {
			for i := range each {
				extension.Deliver(slow, i, func(error) {})
				extension.Deliver(quick, i, func(error) {})
			}
		},
		"topic": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			news.Subscribe(s, slow)
			news.Subscribe(s, quick)
			for i := range each {
				news.Publish(s, i)
			}
		},
		"group in turn": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			receptionist.Register(s, service, slow)
			receptionist.Register(s, service, quick)
			group := actor.Spawn(s, router.Group(service, router.RoundRobin()), "")
			settle()
			for i := range each {
				group.Tell(i)
				group.Tell(i)
			}
		},
		"group by hash": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			for i, to := range []actor.ActorRef[int]{slow, quick} {
				key := receptionist.NewKey[int]("slow " + strconv.Itoa(i))
				receptionist.Register(s, key, to)
				group := actor.Spawn(s, router.Group(key, router.ConsistentHashing(strconv.Itoa)), "")
				settle()
				for i := range each {
					group.Tell(i)
				}
				var handled bool
				extension.Deliver(group, each, func(error) { handled = true })
				settle()
				if !handled {
					return // and quick hears nothing
				}
			}
		},
		"group, broadcast": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			receptionist.Register(s, service, slow)
			receptionist.Register(s, service, quick)
			group := actor.Spawn(s, router.Group(service, router.Broadcast(all)), "")
			settle()
			for i := range each {
				group.Tell(i)
			}
		},
		"confirmations": func(s *actor.System, slow, quick actor.ActorRef[int]) {
			confirmTo := func(to actor.ActorRef[int]) actor.ActorRef[delivery.Confirmed] {
				ref := make(chan actor.ActorRef[delivery.Confirmed], 1)
				actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
					ref <- actor.Adapt(ctx, func(c delivery.Confirmed) int { return int(c.Number)/2 - 1 })
					return behaviors.Receive(func(_ *actor.Context[int], i int) actor.Behavior[int] {
						to.Tell(i) // a user's actor, which may be slowed down
						return behaviors.Same
					})
				}), "", actor.Bounded(1).Block(time.Hour))
				return <-ref
			}
			worker := behaviors.Receive(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				d.Confirm()
				return behaviors.Same
			})
			producer := actor.Spawn(s, delivery.Producer[int](), "")
			producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker), "")})
			toSlow, toQuick := confirmTo(slow), confirmTo(quick)
			producer.Tell(delivery.Send[int]{})
			for i := range each {
				producer.Tell(delivery.Send[int]{Message: i, ConfirmTo: toSlow})
				producer.Tell(delivery.Send[int]{Message: i, ConfirmTo: toQuick})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				late, soon := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
				release := make(chan struct{})
				slow := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
					<-release
					late.Ref().Tell(n)
					return behaviors.Same
				}), "slow", actor.Bounded(1).Block(time.Hour))
				start := time.Now()
				tell(s, slow, soon.Ref())
				for n := range each {
					require.Equal(t, n, soon.Receive())
				}
				require.Less(t, time.Since(start), time.Minute)
				close(release)
				for n := range each {
					require.Equal(t, n, late.Receive())
				}
			})
		})
	}
}

func TestASystemWhoseActorsWaitForEachOthersRoomShutsDownAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		box := actor.Bounded(1).Block(time.Hour)
		a, b := actor.Spawn(s, obedient(), "a", box), actor.Spawn(s, obedient(), "b", box)
		a.Tell(flood(b, 5))
		b.Tell(flood(a, 5))
		settle()
		start := time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, time.Since(start))
	})
}

func TestAParentThatStopsDoesNotWaitForAChildThatWaitsForItsRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		parent := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			child := actor.Spawn(ctx, obedient(), "")
			self := ctx.Self()
			child.Tell(do(func(*actor.Context[order]) {
				for range 5 {
					self.Tell(do(func(*actor.Context[order]) {}))
				}
			}))
			return obedient()
		}), "", actor.Bounded(1).Block(time.Hour))
		parent.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			<-release
			return behaviors.Stopped
		})
		settle()
		start := time.Now()
		close(release)
		p.ExpectTerminated(parent)
		require.Zero(t, time.Since(start))
	})
}
