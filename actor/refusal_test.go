package actor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// asksNow asks, and requires that the ask ends at once with reason.
func asksNow[M any](t *testing.T, to actor.ActorRef[M], request func(actor.ActorRef[int]) M, reason error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	start := time.Now()
	_, err := actor.Ask(ctx, to, request)
	require.ErrorIs(t, err, reason)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, to.Path())
	require.Zero(t, time.Since(start), "%v", err)
}

// A busy actor handles its first message until the test ends.
func busy[M any](t *testing.T, s *actor.System, opts ...actor.SpawnOption) actor.ActorRef[M] {
	t.Helper()
	ref := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[M], _ M) actor.Behavior[M] {
		<-ctx.Done()
		return behaviors.Same
	}), "", opts...)
	var first M
	ref.Tell(first)
	settle()
	return ref
}

func TestAnAskWhoseMessageIsADeadLetterEndsAtOnceWithTheReason(t *testing.T) {
	noRoom := map[string]actor.Mailbox{
		"the newest": actor.Bounded(1),
		"waiting":    actor.Bounded(1).Block(time.Nanosecond),
	}
	for name, box := range noRoom {
		t.Run("full mailbox: "+name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				ref := busy[question](t, s, box)
				ref.Tell(question{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err := actor.Ask(ctx, ref, ask)
				require.ErrorIs(t, err, actor.ErrMailboxFull)
			})
		})
	}
	t.Run("full mailbox: the oldest gives way", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := busy[question](t, s, actor.Bounded(1).DropOldest())
			go func() {
				settle()
				ref.Tell(question{})
			}()
			asksNow(t, ref, ask, actor.ErrMailboxFull)
		})
	})
	t.Run("stash", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, behaviors.Supervise(behaviors.WithStash(1, func(stash *actor.Stash[question]) actor.Behavior[question] {
				return behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] { return stash.Stash(q) })
			}), actor.Strategy{}), "")
			ref.Tell(question{})
			asksNow(t, ref, ask, actor.ErrStashFull)
		})
	})
	t.Run("cleared stash", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, behaviors.WithStash(1, func(stash *actor.Stash[question]) actor.Behavior[question] {
				return behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] {
					stash.Stash(q)
					stash.Clear()
					return behaviors.Same
				})
			}), "")
			asksNow(t, ref, ask, actor.ErrDropped)
		})
	})
	t.Run("wrong type", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, obedient(), "obedient")
			asksNow(t, actor.Resolve[question](s, ref.Path()), ask, actor.ErrWrongType)
		})
	})
	t.Run("wrong type, which are named", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, obedient(), "obedient")
			_, err := actor.Ask(t.Context(), actor.Resolve[question](s, ref.Path()), ask)
			require.ErrorContains(t, err, "actor_test.question")
			require.ErrorContains(t, err, "actor_test.order")
		})
	})
	t.Run("no actor", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			asksNow(t, actor.Resolve[question](s, "understudy://test/user/nobody"), ask, actor.ErrNoSuchActor)
		})
	})
	t.Run("a guardian", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			asksNow(t, actor.Resolve[question](s, "understudy://test/user"), ask, actor.ErrNoSuchActor)
		})
	})
	t.Run("passed on to one that has ended", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			gone := actor.Spawn(s, behaviors.Stopped[question], "gone")
			settle()
			ref := actor.Spawn(s, answering(func(_ *actor.Context[question], q question) { gone.Tell(q) }), "")
			asksNow(t, ref, ask, actor.ErrTerminated)
		})
	})
	t.Run("an adapter of another incarnation", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			refs := testkit.NewProbe[actor.ActorRef[question]](t, s)
			ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				refs.Ref().Tell(extension.Handle(ctx, func(question) actor.Behavior[order] { return behaviors.Same[order] }))
				return obedient()
			}), actor.Strategy{}), "")
			old := refs.Receive()
			ref.Tell(fail(errBoom))
			settle()
			asksNow(t, old, ask, actor.ErrStaleHandler)
		})
	})
}

// errOfTest is an error that crosses the wire.
var errOfTest = errors.New("the test's own error")

func init() { actor.RegisterError("test.own", errOfTest) }

// A homebody is a message that cannot leave the node.
type homebody struct{ ReplyTo actor.ActorRef[int] }

// A poison can be encoded, and not decoded.
type poison struct {
	ReplyTo actor.ActorRef[int]
	Thorn   thorn
}

type thorn struct{}

func (thorn) MarshalCBOR() ([]byte, error) { return []byte{0x01}, nil }

func (*thorn) UnmarshalCBOR([]byte) error {
	if thorns.Add(-1) < 0 {
		return errBoom
	}
	return nil
}

// thorns is how often a thorn can still be decoded: the check of its sender must succeed.
var thorns atomic.Int32

// A mute reply cannot be encoded.
type mute struct{ F int }

type muteQuestion struct{ ReplyTo actor.ActorRef[mute] }

func init() {
	actor.RegisterType[poison]("test.poison")
	actor.RegisterType[muteQuestion]("test.mute-question")
}

func TestAnAskOfAnotherNodeWhoseMessageIsADeadLetterEndsAtOnceWithTheReason(t *testing.T) {
	parcelTo := func(r actor.ActorRef[int]) parcel { return parcel{ReplyTo: r} }
	t.Run("unregistered type", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, _ := connected(t)
			to := actor.Resolve[homebody](a, "understudy://test@b:1/user/x")
			asksNow(t, to, func(r actor.ActorRef[int]) homebody { return homebody{r} }, actor.ErrNotSerializable)
		})
	})
	t.Run("not decodable", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, _ := connected(t)
			thorns.Store(1)
			to := actor.Resolve[poison](a, "understudy://test@b:1/user/x")
			asksNow(t, to, func(r actor.ActorRef[int]) poison { return poison{ReplyTo: r} }, actor.ErrNotDecodable)
		})
	})
	t.Run("wrong type", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			actor.Spawn(b, obedient(), "obedient")
			to := actor.Resolve[parcel](a, "understudy://test@b:1/user/obedient")
			asksNow(t, to, parcelTo, actor.ErrWrongType)
			_, err := actor.Ask(t.Context(), to, parcelTo)
			require.ErrorContains(t, err, "actor_test.parcel")
			require.ErrorContains(t, err, "actor_test.order")
		})
	})
	t.Run("no actor", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, _ := connected(t)
			asksNow(t, actor.Resolve[parcel](a, "understudy://test@b:1/user/x"), parcelTo, actor.ErrNoSuchActor)
		})
	})
	t.Run("another actor of the path", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			ref := actor.Spawn(b, behaviors.Ignore[parcel], "x")
			asksNow(t, actor.Resolve[parcel](a, ref.Path()+"#1"), parcelTo, actor.ErrStaleRef)
		})
	})
	t.Run("a node without a process", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, _ := connected(t)
			asksNow(t, actor.Resolve[parcel](a, "understudy://test@c:1/user/x"), parcelTo, actor.ErrUnreachable)
		})
	})
	t.Run("a node whose actors have ended", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			require.NoError(t, b.Shutdown(t.Context()))
			_, err := actor.Ask(t.Context(), actor.Resolve[parcel](a, "understudy://test@b:1/user/x"), parcelTo)
			require.ErrorIs(t, err, actor.ErrUnreachable)
			require.ErrorContains(t, err, "all actors of b:1 have ended")
		})
	})
	t.Run("full mailbox", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			ref := busy[parcel](t, b, actor.Bounded(1))
			ref.Tell(parcel{})
			asksNow(t, actor.Resolve[parcel](a, ref.String()), parcelTo, actor.ErrMailboxFull)
		})
	})
	t.Run("the end of the actor", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			ref := actor.Spawn(b, behaviors.Receive(func(*actor.Context[parcel], parcel) actor.Behavior[parcel] {
				time.Sleep(time.Second)
				return behaviors.Stopped
			}), "")
			ref.Tell(parcel{})
			start := time.Now()
			_, err := actor.Ask(t.Context(), actor.Resolve[parcel](a, ref.String()), parcelTo)
			require.ErrorIs(t, err, actor.ErrTerminated)
			require.Equal(t, time.Second, time.Since(start))
		})
	})
	t.Run("a rule of the actor", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			ref := actor.Spawn(b, behaviors.Receive(func(ctx *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
				extension.DeadLetter(ctx.System(), ctx.Self().Path(), p, fmt.Errorf("not today: %w", errOfTest))
				return behaviors.Same
			}), "")
			asksNow(t, actor.Resolve[parcel](a, ref.String()), parcelTo, errOfTest)
			_, err := actor.Ask(t.Context(), actor.Resolve[parcel](a, ref.String()), parcelTo)
			require.ErrorContains(t, err, "not today")
		})
	})
	t.Run("a reply that cannot be encoded", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			ref := actor.Spawn(b, behaviors.Receive(func(_ *actor.Context[muteQuestion], q muteQuestion) actor.Behavior[muteQuestion] {
				q.ReplyTo.Tell(mute{})
				return behaviors.Same
			}), "")
			start := time.Now()
			_, err := actor.Ask(t.Context(), actor.Resolve[muteQuestion](a, ref.String()),
				func(r actor.ActorRef[mute]) muteQuestion { return muteQuestion{r} })
			require.ErrorIs(t, err, actor.ErrNotSerializable)
			require.Zero(t, time.Since(start))
		})
	})
	t.Run("an ask from inside an actor", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, _ := connected(t)
			p := testkit.NewProbe[error](t, a)
			actor.Spawn(a, obedient(), "").Tell(do(func(ctx *actor.Context[order]) {
				actor.AskToSelf(ctx, actor.Resolve[parcel](a, "understudy://test@b:1/user/x"), 0, parcelTo, func(_ int, err error) order {
					return do(func(*actor.Context[order]) { p.Ref().Tell(err) })
				})
			}))
			require.ErrorIs(t, p.Receive(), actor.ErrNoSuchActor)
		})
	})
}

// Messages may hold the ref to reply to in many places.
func TestTheRefToReplyToIsFoundWhereverAMessageHasIt(t *testing.T) {
	type inner struct{ replyTo actor.ActorRef[int] }
	type embedding struct{ actor.ActorRef[int] }
	type withAny struct{ any }
	for name, request := range map[string]func(actor.ActorRef[int]) any{
		"it is the message":      func(r actor.ActorRef[int]) any { return r },
		"a field":                func(r actor.ActorRef[int]) any { return inner{r} },
		"behind a pointer":       func(r actor.ActorRef[int]) any { return &inner{r} },
		"behind two pointers":    func(r actor.ActorRef[int]) any { p := &inner{r}; return &p },
		"embedded":               func(r actor.ActorRef[int]) any { return embedding{r} },
		"a field of a field":     func(r actor.ActorRef[int]) any { return struct{ b *inner }{&inner{r}} },
		"an interface":           func(r actor.ActorRef[int]) any { return struct{ ref actor.AnyRef }{r} },
		"a struct in interfaces": func(r actor.ActorRef[int]) any { return withAny{withAny{inner{r}}} },
		"a pointer in one":       func(r actor.ActorRef[int]) any { return withAny{&inner{r}} },
		"a slice":                func(r actor.ActorRef[int]) any { return []inner{{}, {r}} },
		"an array":               func(r actor.ActorRef[int]) any { return [2]inner{{}, {r}} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				gone := actor.Spawn(s, behaviors.Stopped[any], "gone")
				settle()
				ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[any], m any) actor.Behavior[any] {
					gone.Tell(m)
					return behaviors.Same
				}), "")
				asksNow(t, ref, request, actor.ErrTerminated)
			})
		})
	}
}

// A ring is a message that goes round in circles.
type ring struct {
	next    *ring
	more    []*ring
	any     any
	replyTo actor.ActorRef[int]
}

func TestAMessageThatGoesRoundInCirclesIsADeadLetterLikeAnyOther(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		gone := actor.Spawn(s, behaviors.Stopped[*ring], "gone")
		settle()
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[*ring], m *ring) actor.Behavior[*ring] {
			gone.Tell(m)
			return behaviors.Same
		}), "")
		asksNow(t, ref, func(r actor.ActorRef[int]) *ring {
			m := &ring{replyTo: r}
			m.next, m.more, m.any = m, []*ring{m, m, m}, m
			return m
		}, actor.ErrTerminated)
	})
}

// A value with locks is not inspected by another goroutine; the race detector would report that.
func TestADeadLetterIsNotLookedIntoWhereOthersAreAtWork(t *testing.T) {
	type guarded struct {
		mu      sync.Mutex
		replyTo actor.ActorRef[int]
		all     map[string]any
	}
	type message struct {
		ctx   context.Context
		state *guarded
		open  map[string]actor.ActorRef[int]
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		g, open := &guarded{all: map[string]any{}}, map[string]actor.ActorRef[int]{}
		var working sync.WaitGroup
		working.Go(func() {
			for range 1000 {
				g.mu.Lock()
				g.replyTo, g.all["x"] = actor.ActorRef[int]{}, g
				g.mu.Unlock()
				open["x"] = actor.ActorRef[int]{}
			}
		})
		for range 1000 {
			extension.DeadLetter(s, "", message{t.Context(), g, open}, errBoom)
			extension.DeadLetter(s, "", g, errBoom)
		}
		working.Wait()
	})
}

func TestAnAskOfSeveralEndsWithTheFirstReplyWhoeverCannotBeTold(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *actor.System) {
		a, b := connected(t)
		for _, s := range []*actor.System{a, b} {
			gone := actor.Spawn(s, behaviors.Stopped[parcel], "gone")
			settle()
			ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
				extension.NoteBroadcast(s, p)
				gone.Tell(p)
				time.AfterFunc(time.Second, func() { p.ReplyTo.Tell(42) })
				return behaviors.Same
			}), "")
			got := testkit.Ask(t.Context(), t, actor.Resolve[parcel](a, ref.String()), func(r actor.ActorRef[int]) parcel { return parcel{ReplyTo: r} })
			require.Equal(t, 42, got)
		}
	})
}
