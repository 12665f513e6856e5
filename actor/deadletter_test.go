package actor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestWhatCannotBeDeliveredIsADeadLetterWithItsReason(t *testing.T) {
	const absent = "understudy://test/user/absent"
	for _, test := range []struct {
		name   string
		reason error
		tell   func(t *testing.T, s *actor.System) (recipient string, msg any)
	}{
		{"an actor that has ended", actor.ErrTerminated, func(t *testing.T, s *actor.System) (string, any) {
			ref := actor.Spawn(s, behaviors.Stopped[int], "")
			testkit.NewProbe[int](t, s).ExpectTerminated(ref)
			ref.Tell(1)
			return ref.String(), 1
		}},
		{"a path where no actor lives", actor.ErrNoSuchActor, func(_ *testing.T, s *actor.System) (string, any) {
			actor.Resolve[int](s, absent).Tell(1)
			return absent, 1
		}},
		{"a path that is malformed", actor.ErrNoRef, func(_ *testing.T, s *actor.System) (string, any) {
			actor.Resolve[int](s, "malformed").Tell(1)
			return "malformed", 1
		}},
		{"a path that has another tenant now", actor.ErrStaleRef, func(t *testing.T, s *actor.System) (string, any) {
			old := actor.Spawn(s, behaviors.Stopped[int], "absent")
			testkit.NewProbe[int](t, s).ExpectTerminated(old)
			actor.Spawn(s, behaviors.Ignore[int], "absent")
			actor.Resolve[int](s, old.String()).Tell(1)
			return absent, 1
		}},
		{"the zero ref", actor.ErrNoRef, func(*testing.T, *actor.System) (string, any) {
			actor.ActorRef[int]{}.Tell(1)
			return "", 1
		}},
		{"a type that the actor does not take", actor.ErrWrongType, func(_ *testing.T, s *actor.System) (string, any) {
			ref := actor.Spawn(s, behaviors.Ignore[int], "")
			actor.Resolve[string](s, ref.Path()).Tell("not an int")
			return ref.String(), "not an int"
		}},
		{"nil, which the actor does not take", actor.ErrWrongType, func(_ *testing.T, s *actor.System) (string, any) {
			ref := actor.Spawn(s, behaviors.Ignore[int], "")
			actor.Resolve[error](s, ref.Path()).Tell(nil)
			return ref.String(), nil
		}},
		{"another node, without a transport", actor.ErrUnreachable, func(_ *testing.T, s *actor.System) (string, any) {
			ref := actor.Resolve[int](s, "understudy://test@elsewhere:1/user/x")
			ref.Tell(1)
			return ref.Path(), 1
		}},
		{"what an extension could not deliver", errBoom, func(_ *testing.T, s *actor.System) (string, any) {
			extension.DeadLetter(s, "somebody", 1, errBoom)
			return "somebody", 1
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				dead := deadLetters(t, s)
				recipient, msg := test.tell(t, s)
				lost := dead.Receive()
				require.Equal(t, recipient, lost.Recipient)
				require.Equal(t, msg, lost.Message)
				require.ErrorIs(t, lost.Reason, test.reason)
				require.EqualValues(t, 1, s.DeadLetters())
				dead.ExpectNone(time.Hour)
			})
		})
	}
}

func TestNilIsAMessageWhereTheTypeIsAnInterface(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[error](t, s)
		actor.Resolve[any](s, p.Ref().Path()).Tell(nil)
		p.Expect(nil)
	})
}

func TestDeadLettersDoNotGoRoundInCircles(t *testing.T) {
	t.Run("when their subscriber has ended", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			dead := deadLetters(t, s)
			dead.Stop()
			actor.Spawn(s, behaviors.Stopped[int], "").Tell(1)
			settle()
			require.EqualValues(t, 1, s.DeadLetters())
		})
	})
	t.Run("when their subscriber ends with some in its mailbox", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[actor.DeadLetter], actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
				for range 3 {
					extension.DeadLetter(s, "somebody", 2, errBoom)
				}
				return behaviors.Stopped
			}), "brief")
			actor.Subscribe(s, ref)
			extension.DeadLetter(s, "somebody", 1, errBoom)
			settle()
			require.EqualValues(t, 1+3+3, s.DeadLetters(), "the letters, and those that waited")
		})
	})
	t.Run("when the mailbox of their subscriber is full", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			release := make(chan struct{})
			ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[any], any) actor.Behavior[any] {
				<-release
				return behaviors.Same
			}), "slow", actor.Bounded(1))
			actor.Subscribe(s, ref)
			for range 10 {
				extension.DeadLetter(s, "somebody", 1, errBoom)
				settle()
			}
			close(release)
			require.EqualValues(t, 10+8, s.DeadLetters(), "one is handled, one waits")
		})
	})
	t.Run("when their subscriber is behind an adapter of an actor that has ended", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			ref := actor.Spawn(s, obedient(), "")
			ref.Tell(do(func(ctx *actor.Context[order]) {
				actor.Subscribe(s, actor.Adapt(ctx, func(actor.DeadLetter) order { return stop }))
			}))
			ref.Tell(stop)
			settle()
			ref.Tell(stop)
			settle()
			require.EqualValues(t, 1, s.DeadLetters())
		})
	})
}

func TestAFloodOfDeadLettersIsTenLinesAndThenOneAMinuteWithTheirNumber(t *testing.T) {
	logs, entries := observer.New(zap.WarnLevel)
	lines := func() []observer.LoggedEntry { settle(); return entries.TakeAll() }
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		for i := range 1000 {
			extension.DeadLetter(s, fmt.Sprint("somebody-", i), 1, errBoom)
		}
		first := lines()
		require.Len(t, first, 10)
		require.Equal(t, "dead letter", first[9].Message)
		require.Equal(t, map[string]any{"recipient": "somebody-9", "type": "int", "error": "boom"}, first[9].ContextMap())

		extension.DeadLetter(s, "other", 1, actor.ErrMailboxFull)
		extension.DeadLetter(s, "other", "text", errBoom)
		require.Len(t, lines(), 2, "a flood hides no other reason and no other type")

		time.Sleep(time.Minute - 1)
		require.Empty(t, lines())
		time.Sleep(time.Nanosecond)
		held := lines()
		require.Len(t, held, 1)
		require.Contains(t, held[0].Message, "more dead letters")
		require.Equal(t, map[string]any{"count": uint64(990), "recipient": "somebody-999", "type": "int", "error": "boom"}, held[0].ContextMap())
		require.Zero(t, held[0].Caller)

		for range 119 {
			extension.DeadLetter(s, "somebody", 1, errBoom)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		held = lines()
		require.Len(t, held, 2, "in two minutes")
		require.Equal(t, uint64(119), held[0].ContextMap()["count"].(uint64)+held[1].ContextMap()["count"].(uint64))

		time.Sleep(time.Hour)
		require.Empty(t, lines(), "nothing is left to say")
		for range 11 {
			extension.DeadLetter(s, "somebody", 1, errBoom)
		}
		require.Len(t, lines(), 10, "it was quiet for long")
		require.EqualValues(t, 1000+2+119+11, s.DeadLetters())
	}, actor.WithLogger(zap.New(logs)))
}

func TestNothingIsLoggedAfterTheEndOfASystem(t *testing.T) {
	logs, entries := observer.New(zap.WarnLevel)
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		for range 20 {
			extension.DeadLetter(s, "somebody", 1, errBoom)
		}
		require.NoError(t, s.Shutdown(t.Context()))
		time.Sleep(time.Hour)
		require.Equal(t, 10, entries.Len())
	}, actor.WithLogger(zap.New(logs)))
}

func TestADeadLetterNamesTheActorThatAsked(t *testing.T) {
	type asker = actor.Context[order]
	for name, send := range map[string]func(ctx *asker, to actor.ActorRef[question]){
		"Ask":        func(ctx *asker, to actor.ActorRef[question]) { _, _ = actor.Ask(ctx, to, ask) },
		"AskTimeout": func(ctx *asker, to actor.ActorRef[question]) { _, _ = actor.AskTimeout(ctx, to, time.Second, ask) },
		"AskToSelf": func(ctx *asker, to actor.ActorRef[question]) {
			actor.AskToSelf(ctx, to, time.Second, ask, func(int, error) order { return stop })
		},
		"an adapter": func(ctx *asker, to actor.ActorRef[question]) {
			to.Tell(question{replyTo: actor.Adapt(ctx, func(int) order { return stop })})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				dead := deadLetters(t, s)
				asking := actor.Spawn(s, obedient(), "asking")
				full := busy[question](t, s, actor.Bounded(1))
				full.Tell(question{})
				asking.Tell(do(func(ctx *asker) { send(ctx, full) }))
				require.Equal(t, "understudy://test/user/asking", dead.Receive().Sender)
				require.Equal(t, "understudy://test/user/asking", actorhook.KeptDeadLetters(s)[0].Sender)
			})
		})
	}
	t.Run("with a context of its own, once it waits", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			dead := deadLetters(t, s)
			slow := actor.Spawn(s, answering(func(*actor.Context[question], question) { time.Sleep(2 * time.Second) }), "slow")
			slow.Tell(question{})
			actor.Spawn(s, obedient(), "asking").Tell(do(func(ctx *asker) {
				within, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				_, _ = actor.Ask(within, slow, ask)
			}))
			lost := dead.Receive()
			require.ErrorIs(t, lost.Reason, actor.ErrWithdrawn)
			require.Equal(t, "understudy://test/user/asking", lost.Sender)
		})
	})
	t.Run("not of another goroutine", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *actor.System) {
			dead := deadLetters(t, s)
			_, err := actor.Ask(t.Context(), actor.Resolve[question](s, "understudy://test/user/gone"), ask)
			require.ErrorIs(t, err, actor.ErrNoSuchActor)
			require.Empty(t, dead.Receive().Sender)
		})
	})
	t.Run("on another node its ask", func(t *testing.T) {
		inBubble(t, func(t *testing.T, _ *actor.System) {
			a, b := connected(t)
			dead := deadLetters(t, b)
			gone := actor.Resolve[parcel](a, "understudy://test@b:1/user/gone")
			actor.Spawn(a, obedient(), "asking").Tell(do(func(ctx *asker) {
				_, _ = actor.Ask(ctx, gone, func(replyTo actor.ActorRef[int]) parcel { return parcel{ReplyTo: replyTo} })
			}))
			require.Regexp(t, `^understudy://test@a:1/`, dead.Receive().Sender)
		})
	})
}

func TestTheReasonOfADeadLetterCanBeCompared(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		extension.DeadLetter(s, "somebody", 1, errors.Join(errBoom, actor.ErrDropped))
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrDropped)
	})
}

// carrier is a message of the framework; an empty one carries nothing.
type carrier struct{ msg string }

func (c carrier) Carried(s *actor.System) (string, any, bool) {
	return "to " + s.Name(), c.msg, c.msg != ""
}

func TestOfAMessageOfTheFrameworkWhatItCarriesIsTheDeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, p.Ref())
		extension.DeadLetter(s, "somewhere", carrier{}, actor.ErrTerminated)
		extension.DeadLetter(s, "somewhere", carrier{"hello"}, actor.ErrTerminated)
		p.Expect(actor.DeadLetter{Recipient: "to test", Message: "hello", Reason: actor.ErrTerminated})
		p.ExpectNone(time.Hour)
		require.Equal(t, uint64(1), s.DeadLetters())
	})
}

type evil struct{ next *evil }

func (e *evil) Carried(*actor.System) (string, any, bool) { return "", e.next.next, true }

func (e *evil) LocalOnly() bool { return e.next.next == nil }

// Methods that the framework looks for in messages are the user's: they may panic.
func TestMethodsOfMessagesThatPanicHarmNobody(t *testing.T) {
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, p.Ref())
		gone := actor.Resolve[*evil](s, "understudy://test/user/gone")
		for _, msg := range []*evil{nil, {}} {
			gone.Tell(msg)
			require.Equal(t, msg, p.Receive().Message)
			gone.TellAfter(time.Second, msg)
			require.Equal(t, msg, p.Receive().Message)
		}
	}, extension.WithEncoding(func(string, any, error) {}))
}

func TestDeadLettersAreCountedByTheirReasons(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type count struct {
			reason error
			n      uint64
		}
		counts := func() (all []count) {
			for reason, n := range s.DeadLettersByReason() {
				all = append(all, count{reason, n})
			}
			return all
		}
		require.Empty(t, counts())
		extension.DeadLetter(s, "a", 1, actor.ErrDropped)
		extension.DeadLetter(s, "b", 2, fmt.Errorf("wrapped: %w", actor.ErrDropped))
		extension.DeadLetter(s, "c", 3, actor.ErrMailboxFull)
		extension.DeadLetter(s, "d", 4, errBoom)
		extension.DeadLetter(s, "e", 5, nil)
		require.Equal(t, []count{{actor.ErrMailboxFull, 1}, {actor.ErrDropped, 2}, {nil, 2}}, counts())
		require.EqualValues(t, 5, s.DeadLetters())
	})
}

// unimportant is a message whose loss needs no line in the log.
type unimportant struct{}

func (unimportant) QuietDeadLetter() {}

func TestQuietDeadLettersAndThoseOfAShutdownAreNotLogged(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		extension.DeadLetter(s, "a", unimportant{}, actor.ErrDropped)
		require.Equal(t, unimportant{}, dead.Receive().Message)
		require.Zero(t, logs.Len())
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			<-ctx.Done()
			ref.Tell(nil)
		}))
		settle()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Zero(t, logs.Len())
	}, actor.WithLogger(zap.New(core)))
}

func TestASubscriberToDeadLettersThroughTheAdapterOfAnActorThatHasEndedMakesNone(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			actor.Subscribe(s, actor.Adapt(ctx, func(l actor.DeadLetter) order { return say(p, fmt.Sprint(l.Message)) }))
		}))
		settle()
		extension.DeadLetter(s, "a", 1, actor.ErrDropped)
		p.Expect("1")
		ref.Tell(stop)
		p.ExpectTerminated(ref)
		extension.DeadLetter(s, "a", 2, actor.ErrDropped)
		settle()
		require.EqualValues(t, 2, s.DeadLetters())
	})
}
