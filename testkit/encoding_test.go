package testkit_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

type (
	// A nameless type is not registered.
	nameless struct{ N int }

	// A parcel is registered.
	parcel struct {
		Items   []string
		ReplyTo actor.ActorRef[nameless]
	}

	// A shy parcel has a field that is not exported, and a codec that does not mind.
	shy struct {
		N      int
		secret string
	}

	// A neighbor never leaves its node.
	neighbor struct{ call func() }
)

func (neighbor) LocalOnly() bool { return true }

// A careless codec lets its users lose fields.
type careless struct{ json.Codec }

func (careless) Name() string                 { return "careless" }
func (careless) CheckType(reflect.Type) error { return nil }

func init() {
	actor.RegisterType[parcel]("testkit_test.parcel")
	actor.RegisterType[shy]("testkit_test.shy", actor.WithCodec(careless{}))
}

// failingWith runs f in a test of its own with a system, and returns its failure.
func failingWith(t *testing.T, f func(t testing.TB, s *actor.System)) (complaint string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		complaint = failing(t, func(t testing.TB) { f(t, testkit.NewSystem(t)) })
	})
	return complaint
}

const register = `type testkit_test.nameless is not registered; add to an init function: actor.RegisterType[testkit_test.nameless]("a stable name")`

func TestAMessageThatIsNotRegisteredFailsTheTestWithTheLineToAdd(t *testing.T) {
	for name, tell := range map[string]func(t testing.TB, s *actor.System){
		"told": func(t testing.TB, s *actor.System) { testkit.NewProbe[nameless](t, s).Ref().Tell(nameless{}) },
		"told later": func(t testing.TB, s *actor.System) {
			testkit.NewProbe[nameless](t, s).Ref().TellAfter(time.Second, nameless{})
			time.Sleep(2 * time.Second)
		},
		"told to an actor of any": func(t testing.TB, s *actor.System) { testkit.NewProbe[any](t, s).Ref().Tell(nameless{}) },
		"told to a bounded mailbox": func(_ testing.TB, s *actor.System) {
			actor.Spawn(s, behaviors.Ignore[nameless], "", actor.Bounded(1)).Tell(nameless{})
		},
		"told to an adapter": func(_ testing.TB, s *actor.System) {
			actor.Spawn(s, func(ctx *actor.Context[int], next *actor.Next[int]) {
				behaviors.Ignore(ctx, next)
				actor.Adapt(ctx, func(nameless) int { return 0 }).Tell(nameless{})
			}, "")
			synctest.Wait()
		},
		"told to itself": func(_ testing.TB, s *actor.System) {
			actor.Spawn(s, func(ctx *actor.Context[nameless], next *actor.Next[nameless]) {
				behaviors.Ignore(ctx, next)
				ctx.Self().Tell(nameless{})
			}, "")
			synctest.Wait()
		},
		"delivered": func(_ testing.TB, s *actor.System) {
			extension.Deliver(actor.Spawn(s, behaviors.Ignore[nameless], ""), nameless{}, func(error) {})
		},
	} {
		require.Contains(t, failingWith(t, tell), register, name)
	}
}

func TestAnAskOfWhatCannotBeEncodedEndsAtOnce(t *testing.T) {
	complaint := failingWith(t, func(t testing.TB, s *actor.System) {
		start := time.Now()
		_, err := actor.Ask(context.Background(), testkit.NewProbe[nameless](t, s).Ref(), func(actor.ActorRef[int]) nameless { return nameless{} })
		require.ErrorIs(t, err, actor.ErrNotSerializable)
		require.ErrorContains(t, err, register)
		require.Zero(t, time.Since(start))
	})
	require.Contains(t, complaint, register)
}

func TestAReplyThatIsNotRegisteredFailsTheTestAndTheAsk(t *testing.T) {
	complaint := failingWith(t, func(t testing.TB, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
			p.ReplyTo.Tell(nameless{})
			return behaviors.Same
		}), "")
		start := time.Now()
		_, err := actor.Ask(context.Background(), ref, func(r actor.ActorRef[nameless]) parcel { return parcel{ReplyTo: r} })
		require.ErrorIs(t, err, actor.ErrNotSerializable)
		require.Zero(t, time.Since(start))

		outcome := make(chan error, 1)
		actor.Spawn(s, func(ctx *actor.Context[int], next *actor.Next[int]) {
			behaviors.Ignore(ctx, next)
			actor.AskToSelf(ctx, ref, 0, func(r actor.ActorRef[nameless]) parcel { return parcel{ReplyTo: r} },
				func(_ nameless, err error) int { outcome <- err; return 0 })
		}, "")
		require.ErrorIs(t, <-outcome, actor.ErrNotSerializable)
	})
	require.Contains(t, complaint, register)
}

func TestAFieldThatIsNotExportedFailsTheTestWhenItHasAValue(t *testing.T) {
	complaint := failingWith(t, func(t testing.TB, s *actor.System) {
		p := testkit.NewProbe[shy](t, s)
		p.Ref().Tell(shy{N: 1})
		p.Expect(shy{N: 1})
		p.Ref().Tell(shy{N: 1, secret: "lost"})
	})
	require.Contains(t, complaint, "testkit_test.shy has a value in the field secret, which is not exported")
}

func TestARecipientGetsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		p := testkit.NewProbe[parcel](t, s)
		replies := testkit.NewProbe[nameless](t, s)
		sent := parcel{Items: []string{"a", "b"}, ReplyTo: replies.Ref()}
		p.Ref().Tell(sent)
		sent.Items[0] = "changed"
		got := p.Receive()
		require.Equal(t, []string{"a", "b"}, got.Items)
		require.Equal(t, replies.Ref(), got.ReplyTo, "refs stay what they are")

		shared := testkit.NewSystem(t, testkit.WithoutEncoding())
		same := testkit.NewProbe[parcel](t, shared)
		same.Ref().Tell(sent)
		sent.Items[0] = "seen"
		require.Equal(t, "seen", same.Receive().Items[0])
		p.Ref().Tell(parcel{ReplyTo: testkit.NewProbe[nameless](t, shared).Ref()})
		require.Contains(t, p.Receive().ReplyTo.Path(), "/user/", "a ref of another system")
	})
}

func TestWhatAnActorGetsFromItselfIsNotEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		got := make(chan string, 10)
		note := func(what string) neighbor { return neighbor{func() { got <- what }} }
		type private struct{ say func() }
		as := func(n neighbor) private { return private{n.call} }
		ended := actor.Spawn(s, behaviors.Stopped[int], "")
		actor.Spawn(s, func(ctx *actor.Context[private], next *actor.Next[private]) {
			next.OnMessage = func(_ *actor.Context[private], msg private) actor.Behavior[private] {
				msg.say()
				return nil
			}
			ctx.After("timer", time.Second, as(note("timer")))
			actor.PipeToSelf(ctx, func(context.Context) (int, error) { return 1, nil }, func(int, error) private { return as(note("pipe")) })
			ctx.WatchWith(ended, as(note("watch")))
			actor.Adapt(ctx, func(int) private { return as(note("adapter")) }).Tell(1)
			actor.Subscribe(ctx.System(), actor.Adapt(ctx, func(e private) private { return e }))
		}, "")
		actor.Spawn(s, func(_ *actor.Context[neighbor], next *actor.Next[neighbor]) {
			next.OnMessage = func(_ *actor.Context[neighbor], msg neighbor) actor.Behavior[neighbor] {
				msg.call()
				return nil
			}
		}, "neighbor").Tell(note("neighbor"))
		synctest.Wait()
		s.Publish(as(note("event")))
		time.Sleep(2 * time.Second)
		var all []string
		for len(got) > 0 {
			all = append(all, <-got)
		}
		require.ElementsMatch(t, []string{"timer", "pipe", "watch", "adapter", "neighbor", "event"}, all)
		require.Zero(t, s.DeadLetters())
	})
}

func TestAskWaitsForItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[actor.ActorRef[int]](t, s)
		ask := func(r actor.ActorRef[int]) actor.ActorRef[int] { return r }
		for _, d := range []time.Duration{time.Second, time.Minute} {
			start := time.Now()
			failing(t, func(t testing.TB) {
				ctx, cancel := context.WithTimeout(context.Background(), d)
				defer cancel()
				testkit.Ask(ctx, t, p.Ref(), ask)
			})
			require.Equal(t, d, time.Since(start))
		}
	})
}
