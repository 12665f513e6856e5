// Package slogcore lets loggers of zap write to handlers of log/slog.
package slogcore

import (
	"context"
	"log/slog"

	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/guard"
)

// Entry-level values that a slog.Record has no place for are attributes under the keys that zap's
// own encoders use.
const (
	nameKey  = "logger"
	stackKey = "stacktrace"
)

// New returns a core that passes each entry to h. The core may be used by several goroutines at
// once, as h may.
//
// Namespaces of zap are groups of h. Fields given to With are attributes of h from then on. Errors
// stay errors. A Stringer becomes its text, unless it is a slog.LogValuer.
func New(h slog.Handler) zapcore.Core { return core{h} }

type core struct{ handler slog.Handler }

// The levels of slog are four apart, those of zap one. The three levels of zap above Error are thus
// 4, 8 and 12 above slog's.
func level(l zapcore.Level) slog.Level { return slog.Level(4 * l) }

func (c core) Enabled(l zapcore.Level) bool {
	return c.handler.Enabled(context.Background(), level(l))
}

func (c core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) {
		return to
	}
	return to.AddCore(e, c)
}

func (c core) With(fields []zapcore.Field) zapcore.Core {
	a := attributesOf(fields)
	h := c.handler
	for _, g := range a.open {
		h = withAttrs(h, g.before).WithGroup(g.name)
	}
	return core{withAttrs(h, a.last)}
}

func withAttrs(h slog.Handler, attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return h.WithAttrs(attrs)
}

func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, level(e.Level), e.Message, callerPC(e.Caller))
	if e.LoggerName != "" {
		r.AddAttrs(slog.String(nameKey, e.LoggerName))
	}
	if len(fields) > 0 {
		r.AddAttrs(attributesOf(fields).all()...)
	}
	if e.Stack != "" {
		r.AddAttrs(slog.String(stackKey, e.Stack))
	}
	return guard.Run(func() error { return c.handler.Handle(context.Background(), r) }) // the caller must go on
}

// slog wants the return address of the call. An entry of zap has the address before it.
func callerPC(caller zapcore.EntryCaller) uintptr {
	if !caller.Defined || caller.PC == 0 {
		return 0
	}
	return caller.PC + 1
}

func (core) Sync() error { return nil }
