package persistence_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
)

func TestAnActorThatIsToldNothingPassivates(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{PassivateAfter: time.Minute})
		for range 5 {
			ref.Tell(recall(w.to))
			w.replies.Expect("[]")
			time.Sleep(59 * time.Second)
		}
		ref.Tell(say(w.to, "a"))
		w.replies.Expect("a")
		begun := time.Now()
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(ref) })
		require.Equal(w, time.Minute, time.Since(begun))
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[a]")
	})
}

// The time counts from the end of a command. Commands that wait behind a long one are handled
// first.
func TestNoCommandThatWaitsIsLostToPassivation(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{append: slowly})
		ref := w.spawn(options{PassivateAfter: 100 * time.Millisecond})
		for _, word := range []string{"a", "b", "c"} {
			ref.Tell(say(w.to, word))
		}
		w.expect("a", "b", "c")
		begun := time.Now()
		w.replies.ExpectTerminated(ref)
		require.Equal(w, 100*time.Millisecond, time.Since(begun))
		lost.ExpectNone(time.Hour)
	})
}

func TestWhatArrivesAsTheTimeIsOverIsHandled(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		ref := w.spawn(options{PassivateAfter: time.Second})
		ref.Tell(func(*actor.Context[command], string) effect {
			time.AfterFunc(2*time.Second, func() { ref.Tell(recall(w.to)) }) // while this is running
			time.Sleep(3 * time.Second)
			return nil
		})
		w.replies.Within(time.Minute, func() { w.replies.Expect("[]") })
		w.replies.ExpectTerminated(ref)
		lost.ExpectNone(time.Hour)
	})
}

func TestCommandsThatArePutAsideKeepTheActorAlive(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{PassivateAfter: time.Minute})
		ref.Tell(gated(w.to, "a"))
		time.Sleep(time.Hour)
		ref.Tell(do(persistence.Persist(said{">"}).ThenUnstashAll()))
		w.replies.Expect("a")
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(ref) })
	})
}

func TestARestartBeginsTheTimeAnew(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(nil, options{PassivateAfter: time.Minute})
		time.Sleep(30 * time.Second)
		ref.Tell(explode)
		synctest.Wait()
		begun := time.Now()
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(ref) })
		require.Equal(w, time.Minute, time.Since(begun))
	})
}

// The instance of a singleton does not passivate, because it would be started again at once. Actors
// that it spawns may passivate.
func TestTheInstanceOfASingletonDoesNotPassivate(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		ctx := tenure.With(w.Context(), tenure.New("understudy://test/user/instance", tenure.Generation{Term: 1}, tenure.Hooks{}))
		instance := actor.Spawn(w.system, words(w.journal, options{PassivateAfter: time.Minute}), "instance", extension.WithContext(ctx))
		require.Equal(w, "understudy://test/user/instance", instance.Path())
		other := actor.Spawn(w.system, persistence.New("other", w.journal, "", hear, obey, options{PassivateAfter: time.Minute}), "other", extension.WithContext(ctx))
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(other) })
		instance.Tell(recall(w.to))
		w.replies.Expect("[]")
		require.Equal(w, 1, log.Len())
		require.Contains(w, log.All()[0].Message, "PassivateAfter is ignored")
	})
}
