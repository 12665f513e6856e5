package actor

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/guard"
)

// logWithStack logs an error, with the stack of the panic if it is one: that of the goroutine
// that panicked, in place of its own.
func logWithStack(log *zap.Logger, level zapcore.Level, what string, err error, more ...zap.Field) {
	entry := log.WithOptions(zap.AddCallerSkip(1)).Check(level, what)
	if entry == nil {
		return
	}
	if failed, ok := guard.As[*PanicError](err); ok {
		entry.Stack = string(failed.Stack)
	}
	entry.Write(append(more, zap.Error(err))...)
}
