package behaviors

import (
	"fmt"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/actor"
)

// LogMessages continues with b, and logs each message and each signal at level before it is
// handled, with the path of the actor, the type and the value. It costs almost nothing if the
// logger does not log that level. Nested with the same level it logs once. It panics if b is nil.
func LogMessages[M any](level zapcore.Level, b actor.Behavior[M]) actor.Behavior[M] {
	needBehavior("LogMessages", b)
	return wrapped(logged{level}, func(inner actor.MessageHandler[M]) actor.MessageHandler[M] {
		return func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			if entry := ctx.Log().Check(level, "message"); entry != nil {
				entry.Write(described(msg)...)
			}
			return inner(ctx, msg)
		}
	}, func(inner actor.SignalHandler[M]) actor.SignalHandler[M] {
		return func(ctx *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
			if entry := ctx.Log().Check(level, "signal"); entry != nil {
				entry.Write(described(sig)...)
			}
			return inner(ctx, sig)
		}
	}, b)
}

type logged struct{ at zapcore.Level }

func described(what any) []zap.Field {
	return []zap.Field{zap.String("type", fmt.Sprintf("%T", what)), zap.String("value", fmt.Sprintf("%+v", what))}
}
