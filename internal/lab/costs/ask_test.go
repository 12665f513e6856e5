//go:build !race && !understudy_debug

package costs_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

type question struct{ replyTo actor.ActorRef[int] }

func TestAnAskAllocatesNoMoreThanTwice(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] {
		q.replyTo.Tell(1)
		return behaviors.Same
	}), "echo")
	ask := func(replyTo actor.ActorRef[int]) question { return question{replyTo} }
	for name, asked := range map[string]func() (int, error){
		"without a deadline": func() (int, error) { return actor.Ask(context.Background(), ref, ask) },
		"with a timeout":     func() (int, error) { return actor.AskTimeout(context.Background(), ref, time.Minute, ask) },
	} {
		require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
			if _, err := asked(); err != nil {
				t.Error(err)
			}
		}), 2.0, name)
	}
}
