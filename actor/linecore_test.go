package actor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// A counted is a generation that a test raises.
type counted struct{ atomic.Int32 }

type count int32

func (c count) String() string { return fmt.Sprintf("%d.0", int32(c)) }

func (c *counted) Generation() fmt.Stringer { return count(c.Load()) }

func TestALineOfAnInstanceHasTheGenerationOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
		gen := new(counted)
		var log *zap.Logger
		logged := func() map[string]any {
			all := logs.TakeAll()
			require.Len(t, all, 1)
			return all[0].ContextMap()
		}
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			log = ctx.Log().With(zap.Int("n", 1), zap.Namespace("in"))
			return obedient()
		}), "instance", extension.WithContext(context.WithValue(t.Context(), actorhook.GenerationKey{}, gen)))
		synctest.Wait()
		for range 2 {
			gen.Add(1)
			for range 2 {
				log.Info("line", zap.Bool("last", true))
				require.Equal(t, map[string]any{
					"actor": "/user/instance", "kind": "actor_test.order", "generation": gen.Generation().String(),
					"n": int64(1), "in": map[string]any{"last": true},
				}, logged())
			}
		}
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			actor.Spawn(ctx, obedient(), "child").Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Log().Info("line")
				return nil
			})
			return nil
		})
		synctest.Wait()
		require.Equal(t, map[string]any{"actor": "/user/instance/child", "kind": "actor_test.order", "generation": "2.0"}, logged())
	})
}

// A sampler decides in Check, and a tee has a level for each of its cores.
func TestALineIsCheckedByTheCoreOfTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, inAll := observer.New(zap.InfoLevel)
		few, inFew := observer.New(zap.WarnLevel)
		hooked := 0
		log := zap.New(zapcore.NewTee(all, few), zap.Hooks(func(zapcore.Entry) error {
			hooked++
			return nil
		}))
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(log))
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Log().Debug("off")
			ctx.Log().Info("for one")
			ctx.Log().Warn("for both")
			return behaviors.Stopped
		}), "talker")
		synctest.Wait()
		require.Equal(t, 2, inAll.Len())
		require.Equal(t, 1, inFew.Len())
		require.Equal(t, 2, hooked)
	})
}

// The lines of an inner behavior are those of its actor, whose message type is the outer one.
func TestAnInnerBehaviorLogsAsItsActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		s := testkit.NewSystem(t, testkit.WithoutEncoding(), actor.WithLogger(zap.New(core)))
		inner := behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Log().Info("line")
			return behaviors.Ignore
		})
		actor.Spawn(s, behaviors.Transform(inner, func(text string) (int, bool) { return len(text), true }), "outer")
		synctest.Wait()
		require.Equal(t, 1, logs.Len())
		require.Equal(t, map[string]any{"actor": "/user/outer", "kind": "string"}, logs.All()[0].ContextMap())
	})
}
