package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/volatile"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnActorWhoseEventsAreInMemoryIsKnown(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
	replies := testkit.NewProbe[string](t, s)
	actor.Spawn(s, words(journal.NewMemory()), "").Tell(say(replies.Ref(), "a"))
	replies.Expect("a")
	volatile.Of(s).Spread("bert")
	require.Equal(t, 1, logs.FilterField(zap.String("id", "words")).Len())
}
