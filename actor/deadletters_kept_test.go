package actor_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestTheLastDeadLettersAreKeptNewestFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		require.Empty(t, actorhook.KeptDeadLetters(s))
		begin := time.Now()
		for i := range 300 {
			extension.DeadLetter(s, fmt.Sprint("somebody-", i), i, actor.ErrTerminated)
		}
		kept := actorhook.KeptDeadLetters(s)
		require.Len(t, kept, 256)
		for i, d := range kept {
			require.Equal(t, actorhook.DeadLetter{
				Recipient: fmt.Sprint("somebody-", 299-i), Type: reflect.TypeFor[int](), Reason: actor.ErrTerminated,
				Count: 1, First: begin, Last: begin,
			}, d)
		}
	})
}

func TestEqualDeadLettersInARowAreKeptAsOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		begin := time.Now()
		for range 1000 {
			extension.DeadLetter(s, "flooded", 1, actor.ErrMailboxFull)
			time.Sleep(time.Second)
		}
		extension.DeadLetter(s, "flooded", "another type", actor.ErrMailboxFull)
		extension.DeadLetter(s, "flooded", "another type", errBoom)
		extension.DeadLetter(s, "flooded", nil, fmt.Errorf("%w: closed", actor.ErrDropped))
		kept := actorhook.KeptDeadLetters(s)
		require.Len(t, kept, 4)
		require.Equal(t, begin, kept[3].First)
		require.Equal(t, begin.Add(999*time.Second), kept[3].Last)
		require.EqualValues(t, 1000, kept[3].Count)
		require.Empty(t, kept[3].Text, "the reason says it all")
		require.NoError(t, kept[1].Reason, "it is none of package actor")
		require.Equal(t, errBoom.Error(), kept[1].Text)
		require.Equal(t, actor.ErrDropped, kept[0].Reason)
		require.Equal(t, "actor: dropped: closed", kept[0].Text)
		require.Nil(t, kept[0].Type)
	})
}

// A rude error panics when it is asked for its text.
type rude struct{}

func (rude) Error() string { panic("no text") }

func TestWhatIsKeptOfADeadLetterIsShortWhateverItsTextsAre(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		extension.DeadLetter(s, strings.Repeat("ä", 1<<16), 1, errors.New(strings.Repeat("ö", 1<<16)))
		extension.DeadLetter(s, "somebody", 1, rude{})
		kept := actorhook.KeptDeadLetters(s)
		require.Equal(t, strings.Repeat("ä", 256)+"…", kept[1].Recipient)
		require.Equal(t, strings.Repeat("ö", 128)+"…", kept[1].Text)
		require.Empty(t, kept[0].Text)
	})
}

func TestAKeptDeadLetterDoesNotKeepItsMessage(t *testing.T) {
	s := testkit.NewSystem(t, actor.WithLogger(zap.NewNop()))
	freed := make(chan struct{})
	func() {
		msg := &struct{ large [1 << 16]byte }{}
		runtime.AddCleanup(msg, func(freed chan struct{}) { close(freed) }, freed)
		extension.DeadLetter(s, "somebody", msg, actor.ErrNoSuchActor)
	}()
	requireFreed(t, freed)
	require.Len(t, actorhook.KeptDeadLetters(s), 1)
}

func TestDeadLettersOfManyGoroutinesAreAllCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for range 1000 {
					extension.DeadLetter(s, "somebody", 1, actor.ErrTerminated)
					_ = actorhook.KeptDeadLetters(s)
				}
			})
		}
		wait.Wait()
		kept := actorhook.KeptDeadLetters(s)
		require.Len(t, kept, 1)
		require.EqualValues(t, 8000, kept[0].Count)
	})
}

// requireFreed waits until a cleanup has closed freed.
func requireFreed(t *testing.T, freed <-chan struct{}) {
	t.Helper()
	require.Eventually(t, func() bool { //nolint:forbidigo // the garbage collector has no virtual time
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	}, 10*time.Second, time.Millisecond)
}
