package extension_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
)

// reading is a behavior that notes each text with the metadata under key 1000, and fails at "fail".
func reading(got *[]string) actor.Behavior[string] {
	return behaviors.Receive(func(ctx *actor.Context[string], text string) actor.Behavior[string] {
		value, _ := extension.MetadataOf(ctx).Get(1000)
		*got = append(*got, fmt.Sprintf("%s %s", text, value))
		if text == "fail" {
			panic(errors.New("told to fail"))
		}
		return nil
	})
}

func TestMetadataBelongsToOneMessage(t *testing.T) {
	m := extension.Metadata{}.With(1000, []byte("m"))
	var got []string
	for name, c := range map[string]struct {
		behavior actor.Behavior[string]
		options  []actor.SpawnOption
	}{
		"plain":       {behavior: reading(&got)},
		"supervised":  {behavior: behaviors.Supervise(reading(&got), actor.Strategy{Limit: 3, Window: time.Minute})},
		"inner":       {behavior: behaviors.Transform(reading(&got), func(text string) (string, bool) { return text, true })},
		"bounded":     {behavior: reading(&got), options: []actor.SpawnOption{actor.Bounded(100).Block(time.Second)}},
		"prioritized": {behavior: reading(&got), options: []actor.SpawnOption{actor.Prioritized(func(string) int { return 0 })}},
	} {
		synctest.Test(t, func(t *testing.T) {
			got = nil
			s := actor.NewSystem("test")
			ref := actor.Spawn(s, c.behavior, "reader", c.options...)
			extension.TellWith(ref, "a", m)
			ref.Tell("b")
			extension.TellWith(ref, "c", m.With(1000, []byte("n")))
			extension.TellWith(ref, "d", extension.Metadata{})
			want := []string{"a m", "b ", "c n", "d "}
			if name == "supervised" {
				extension.TellWith(ref, "fail", m)
				ref.Tell("e")
				want = append(want, "fail m", "e ")
			}
			synctest.Wait()
			require.Equal(t, want, got, name)
			require.NoError(t, s.Shutdown(t.Context()))
		})
	}
}

func TestMetadataReachesAnActorThatIsYoungerThanTheRef(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("test")
		ref := actor.Resolve[string](s, "understudy://test/user/reader")
		var got []string
		actor.Spawn(s, reading(&got), "reader")
		extension.TellWith(ref, "a", extension.Metadata{}.With(1000, []byte("m")))
		ref.Tell("b")
		synctest.Wait()
		require.Equal(t, []string{"a m", "b "}, got)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

func TestMessageWithMetadataThatCannotBeDeliveredIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("test")
		var lost []any
		actor.Subscribe(s, actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[actor.DeadLetter], d actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
			lost = append(lost, d.Message)
			return nil
		}), "lost"))
		ref := actor.Spawn(s, behaviors.Stopped[string], "ended")
		synctest.Wait()
		m := extension.Metadata{}.With(1000, []byte("m"))
		extension.TellWith(ref, "a", m)
		extension.TellWith(actor.Resolve[string](s, "understudy://test/user/nobody"), "b", m)
		synctest.Wait()
		require.Equal(t, []any{"a", "b"}, lost)
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
