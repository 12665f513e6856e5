package testkit

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestAsksInHandlersWithAContextOfTheirOwnAreFound(t *testing.T) {
	source := `package p

import (
	"context"
	"time"

	framework "github.com/understudy-go/understudy/actor"
)

func handle(ctx *framework.Context[int], to framework.ActorRef[int]) {
	framework.Ask(ctx, to, nil)
	framework.Ask(context.Background(), to, nil)
	framework.AskTimeout[int, int](context.TODO(), to, time.Second, nil)
	framework.PipeToSelf(ctx, func(context.Context) (int, error) {
		return framework.Ask(context.Background(), to, nil)
	}, nil)
}

var behavior = func(ctx *framework.Context[int], next *framework.Next[int]) {
	next.OnMessage = func(ctx *framework.Context[int], msg int) framework.Behavior[int] {
		_, _ = framework.Ask(context.Background(), to, nil)
		return nil
	}
}

func main() { framework.Ask(context.Background(), nil, nil) }
`
	dir := fstest.MapFS{"p.go": {Data: []byte(source)}, "p_test.go": {Data: []byte(source)}}
	require.Equal(t, []string{"p.go:12", "p.go:13", "p.go:21"}, endlessAsks(t, dir))
}

func TestOurExamplesAskWithTheContextOfTheirHandlers(t *testing.T) {
	for _, dir := range []string{"../examples/hello", "../examples/failover", "../examples/rest"} {
		CheckDeadlines(t, dir)
	}
}
