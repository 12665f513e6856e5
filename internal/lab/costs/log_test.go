//go:build !race

package costs_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// An actor whose level is off pays for no field of its lines.
func TestALineThatIsOffComposesNoFields(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(actor.SlogLogger(slog.DiscardHandler)))
	p := testkit.NewProbe[float64](t, s)
	actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		ctx.Log().Debug("before") // the logger is made once
		p.Ref().Tell(testing.AllocsPerRun(100, func() { ctx.Log().Error("off") }))
		return behaviors.Stopped
	}), "quiet")
	require.Zero(t, p.Receive())
}
