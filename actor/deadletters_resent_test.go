package actor_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/payload"
	"github.com/understudy-go/understudy/testkit"
)

// keeping runs a test in a bubble, with a system that keeps the messages of its last ten dead
// letters.
func keeping(t *testing.T, test func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, testkit.NewSystem(t, actor.WithLogger(zap.NewNop()), actorhook.KeepMessages(10).(actor.Option))) // by its contract
	})
}

func asItIs(recipient string) string { return recipient }

func resend(t *testing.T, s *actor.System, number uint64) actorhook.Resent {
	t.Helper()
	r, err := actorhook.Resend(s, number, asItIs)
	require.NoError(t, err)
	return r
}

// keptNumbers are those of all messages that are kept, the oldest first.
func keptNumbers(s *actor.System) (all []uint64) {
	for _, d := range actorhook.KeptDeadLetters(s) {
		all = append(append([]uint64{}, d.Numbers...), all...)
	}
	return all
}

// collect is a behavior that passes its messages on, and ends with "end".
func collect(to chan<- string) actor.Behavior[string] {
	return behaviors.Receive(func(_ *actor.Context[string], msg string) actor.Behavior[string] {
		if msg == "end" {
			return behaviors.Stopped
		}
		to <- msg
		return behaviors.Same
	})
}

const till = "understudy://test/user/till"

func TestAMessageIsSentAgainToWhoeverHasThePathNow(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		got := make(chan string, 10)
		first := actor.Spawn(s, collect(got), "till")
		first.Tell("end")
		synctest.Wait()
		first.Tell("apples")
		require.Equal(t, []uint64{1}, keptNumbers(s))
		actor.Spawn(s, collect(got), "till")
		require.Equal(t, actorhook.Resent{To: till, Here: true}, resend(t, s, 1))
		require.Equal(t, "apples", <-got)
		require.Empty(t, keptNumbers(s))
		require.EqualValues(t, 1, s.DeadLetters())
	})
}

func TestAMessageThatDiesAgainHasANewNumber(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		actor.Resolve[string](s, till).Tell("apples")
		for number := range uint64(5) {
			r := resend(t, s, number+1)
			require.ErrorIs(t, r.Dead, actor.ErrNoSuchActor)
			require.Equal(t, number+2, r.Number)
			require.Equal(t, []uint64{number + 2}, keptNumbers(s))
		}
		actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Same }), "till")
		r := resend(t, s, 6)
		require.ErrorIs(t, r.Dead, actor.ErrWrongType)
		require.Equal(t, []uint64{r.Number}, keptNumbers(s))
	})
}

func TestTheEndOfTheRecipientAndTheFailureOfItsHandlerAreTold(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		for range 2 {
			actor.Resolve[string](s, till).Tell("apples")
		}
		begun, end := make(chan struct{}), make(chan struct{})
		slow := actor.Spawn(s, behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
			close(begun)
			<-end
			return behaviors.Stopped
		}), "till")
		slow.Tell("pears")
		<-begun
		require.Equal(t, actorhook.Resent{To: till, Here: true}, resend(t, s, 1), "it waits in the mailbox")
		require.Equal(t, []uint64{2}, keptNumbers(s))
		close(end)
		synctest.Wait()
		require.Equal(t, []uint64{2, 3}, keptNumbers(s), "a message that waits is lost no more than another")

		actor.Spawn(s, behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] { panic(errBoom) }), "till")
		r := resend(t, s, 2)
		require.ErrorIs(t, r.Failed, errBoom)
		require.NoError(t, r.Dead)
		require.Equal(t, []uint64{3}, keptNumbers(s))
	})
}

func TestOfManyWhoSendAMessageAgainOneSucceeds(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		actor.Resolve[string](s, till).Tell("apples")
		got := make(chan string, 10)
		actor.Spawn(s, collect(got), "till")
		var wait sync.WaitGroup
		var sent, refused atomic.Int32
		for range 8 {
			wait.Go(func() {
				if _, err := actorhook.Resend(s, 1, asItIs); err == nil {
					sent.Add(1)
				} else if strings.Contains(err.Error(), "no message of a dead letter is kept here under the number d1: it was sent again or discarded") {
					refused.Add(1)
				}
			})
		}
		wait.Wait()
		require.EqualValues(t, 1, sent.Load())
		require.EqualValues(t, 7, refused.Load())
		require.Len(t, got, 1)
		require.Error(t, actorhook.Discard(s, 1))
		require.Error(t, actorhook.Discard(s, 99))
	})
}

func TestADiscardedMessageIsGone(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		for range 3 {
			actor.Resolve[string](s, till).Tell("apples")
		}
		require.NoError(t, actorhook.Discard(s, 2))
		require.Equal(t, []uint64{1, 3}, keptNumbers(s))
		kept := actorhook.KeptDeadLetters(s)
		require.Len(t, kept, 1)
		require.EqualValues(t, 3, kept[0].Count, "there have been as many")
		_, err := actorhook.Resend(s, 2, asItIs)
		require.Error(t, err)
	})
}

// unknown has no name.
type unknown struct{ Text string }

func TestWhatCannotBeKeptSaysWhy(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		for want, letter := range map[string]struct {
			to  string
			msg any
		}{
			`type actor_test.unknown is not registered; add to an init function: actor.RegisterType[actor_test.unknown]("a stable name")`: {till, unknown{}},
			"it has 16777254 bytes, and all messages together may have 16777216":                                                          {till, strings.Repeat("x", 16<<20)},
			"its recipient is no actor with a path":                                                                                       {"understudy://test/ask/17", "reply"},
			"actor: message cannot be encoded: nil cannot be encoded by itself, as it has no type":                                        {till, nil},
		} {
			extension.DeadLetter(s, letter.to, letter.msg, actor.ErrTerminated)
			kept := actorhook.KeptDeadLetters(s)[0]
			require.Equal(t, want, kept.NotKept)
			require.Empty(t, kept.Numbers)
		}
		for _, to := range []string{"", "reply to the ask of " + till, "topic news"} {
			extension.DeadLetter(s, to, "message", actor.ErrTerminated)
			require.NotEmpty(t, actorhook.KeptDeadLetters(s)[0].NotKept, to)
		}
		require.Empty(t, keptNumbers(s))
	})
}

func TestAKeptMessageIsAsItWasWhenItDied(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		list := []string{"apples"}
		extension.DeadLetter(s, till, list, actor.ErrTerminated)
		list[0] = "pears"
		got := make(chan []string, 1)
		actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[[]string], msg []string) actor.Behavior[[]string] {
			got <- msg
			return behaviors.Same
		}), "till")
		resend(t, s, 1)
		require.Equal(t, []string{"apples"}, <-got)
	})
}

// An inquiry has a ref for the answer.
type inquiry struct{ ReplyTo actor.ActorRef[string] }

func init() { actor.RegisterType[inquiry]("actor_test.inquiry") }

func TestALetterWhoseAskHasEndedSaysSoAndItsReplyReachesNobody(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		_, err := actor.Ask(t.Context(), actor.Resolve[inquiry](s, till), func(to actor.ActorRef[string]) inquiry { return inquiry{to} })
		require.ErrorIs(t, err, actor.ErrNoSuchActor)
		require.True(t, actorhook.KeptDeadLetters(s)[0].Asked)
		actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[inquiry], q inquiry) actor.Behavior[inquiry] {
			q.ReplyTo.Tell("42")
			return behaviors.Same
		}), "till")
		require.Equal(t, actorhook.Resent{To: till, Here: true}, resend(t, s, 1))
		synctest.Wait()
		reply := actorhook.KeptDeadLetters(s)[0]
		require.ErrorIs(t, reply.Reason, actor.ErrLateReply)
		require.Empty(t, reply.Numbers, "nobody can send it again: there is no recipient")
		require.NotEmpty(t, reply.NotKept)
	})
}

// A message to a node that died dies after the ask, and is encoded.
func TestALetterSaysThatAnAskWaitedAlsoWhenItHasEnded(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		var late payload.Payload
		silent := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[inquiry], q inquiry) actor.Behavior[inquiry] {
			var err error
			late, err = payload.Pack(q)
			require.NoError(t, err)
			return behaviors.Same
		}), "silent")
		_, err := actor.AskTimeout(t.Context(), silent, time.Second, func(to actor.ActorRef[string]) inquiry { return inquiry{to} })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		extension.DeadLetter(s, till, late, actor.ErrUnreachable)
		require.True(t, actorhook.KeptDeadLetters(s)[0].Asked)

		told, err := payload.Pack(inquiry{testkit.NewProbe[string](t, s).Ref()})
		require.NoError(t, err)
		extension.DeadLetter(s, till, told, actor.ErrUnreachable)
		require.False(t, actorhook.KeptDeadLetters(s)[0].Asked)
	})
}

func TestALetterThatIsKeptDoesNotKeepItsMessageInMemory(t *testing.T) {
	s := testkit.NewSystem(t, actor.WithLogger(zap.NewNop()), actorhook.KeepMessages(10).(actor.Option)) // by its contract
	freed := make(chan struct{})
	func() {
		memory := new([1 << 16]string)
		runtime.AddCleanup(memory, func(freed chan struct{}) { close(freed) }, freed)
		extension.DeadLetter(s, till, memory[:1], actor.ErrNoSuchActor)
	}()
	requireFreed(t, freed)
	require.Equal(t, []uint64{1}, keptNumbers(s))
}

func TestWithoutTheSettingNoMessageIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		_, err := actor.Ask(t.Context(), actor.Resolve[inquiry](s, till), func(to actor.ActorRef[string]) inquiry { return inquiry{to} })
		require.Error(t, err)
		kept := actorhook.KeptDeadLetters(s)[0]
		require.False(t, kept.Asked)
		require.Empty(t, kept.NotKept)
		require.Empty(t, kept.Numbers)
		_, err = actorhook.Resend(s, 1, asItIs)
		require.Error(t, err)
	})
}

func TestASystemThatHasEndedKeepsWhatDiedWithIt(t *testing.T) {
	keeping(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, collect(nil), "till")
		require.NoError(t, s.Shutdown(context.Background()))
		ref.Tell("apples")
		r := resend(t, s, 1)
		require.Error(t, r.Dead)
		require.NotErrorIs(t, r.Dead, actor.ErrWrongType)
		require.Equal(t, []uint64{2}, keptNumbers(s))
	})
}
