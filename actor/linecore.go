package actor

import (
	"fmt"
	"slices"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A lineCore adds to each line which actor writes it: its path, its kind and its generation. It
// composes these fields when the first line is written, and again after the generation has changed.
type lineCore struct {
	base     zapcore.Core // of the system
	actor    *core
	with     []zapcore.Field // given to With
	attached atomic.Pointer[attached]
}

// An attached is the core of the system with the fields of one generation.
type attached struct {
	zapcore.Core
	of         actorhook.Generation // nil outside of instances
	generation fmt.Stringer
}

// Any goroutine may use it.
func (c *core) lineLog() *zap.Logger {
	return c.sys.log.WithOptions(zap.WrapCore(func(base zapcore.Core) zapcore.Core {
		return &lineCore{base: base, actor: c}
	}))
}

func (l *lineCore) Enabled(level zapcore.Level) bool { return l.base.Enabled(level) }

func (l *lineCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !l.base.Enabled(e.Level) {
		return to
	}
	return l.current().Check(e, to)
}

// The caller may change the values of the fields afterwards, so they are encoded at once.
func (l *lineCore) With(fields []zapcore.Field) zapcore.Core {
	more := &lineCore{base: l.base, actor: l.actor, with: slices.Concat(l.with, fields)}
	now := *l.current()
	now.Core = now.With(fields)
	more.attached.Store(&now)
	return more
}

func (l *lineCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	return l.current().Write(e, fields)
}

func (l *lineCore) Sync() error { return l.base.Sync() }

func (l *lineCore) current() *attached {
	now := l.attached.Load()
	if now == nil || now.of != nil && now.of.Generation() != now.generation {
		now = l.attach()
		l.attached.Store(now)
	}
	return now
}

func (l *lineCore) attach() *attached {
	now := new(attached)
	fields := []zapcore.Field{zap.String("actor", l.actor.path())}
	if of, ok := l.actor.impl.(*cell); ok {
		fields = append(fields, zap.String("kind", of.tally.counts.of.name))
	}
	if of, ok := l.actor.context().Value(actorhook.GenerationKey{}).(actorhook.Generation); ok {
		now.of, now.generation = of, of.Generation()
		fields = append(fields, zap.Stringer("generation", now.generation))
	}
	now.Core = l.base.With(fields)
	if len(l.with) > 0 {
		now.Core = now.With(l.with) // after ours, because it may open a namespace
	}
	return now
}
