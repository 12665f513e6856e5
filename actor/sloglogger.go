package actor

import (
	"log/slog"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/slogcore"
)

// SlogLogger returns a logger that passes each line to h, for [WithLogger] and every other place
// where this module takes a logger of zap. It panics if h is nil.
//
// Debug, Info, Warn and Error have their namesakes in slog; DPanic, Panic and Fatal are 4, 8 and 12
// above slog.LevelError. h is asked first whether the level is enabled. Each record has the calling
// line of code, so handlers with AddSource show it. Fields are attributes of the same types, and
// namespaces are groups. The name of a named logger is the attribute "logger"; the stack of a panic
// is the attribute "stacktrace". h gets context.Background().
func SlogLogger(h slog.Handler) *zap.Logger {
	if h == nil {
		panic("actor: SlogLogger: the handler must not be nil")
	}
	return zap.New(slogcore.New(h), zap.AddCaller())
}
