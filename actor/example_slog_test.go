package actor_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A program that logs with log/slog passes its handler. Lines of an actor have its path and its
// message type.
func ExampleSlogLogger() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	system := actor.NewSystem("example", actor.WithLogger(actor.SlogLogger(handler)))
	ref := actor.Spawn(system, behaviors.Receive(func(ctx *actor.Context[string], name string) actor.Behavior[string] {
		ctx.Log().Info("greeted", zap.String("name", name), zap.Duration("within", time.Second))
		ctx.Log().Debug("the handler does not want this line")
		return behaviors.Stopped
	}), "greeter")
	ref.Tell("Ada")

	watchUntilItEnds(system, ref)
	fmt.Println(system.Shutdown(context.Background()))
	// Output:
	// level=INFO msg=greeted actor=/user/greeter kind=string name=Ada within=1s
	// <nil>
}
