package actor

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/slogcore"
)

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

// A lineLimit admits ten lines to the log, and then one a minute. Each minute without a line makes
// room for another one, up to ten. Its zero value has admitted none.
type lineLimit struct {
	mu   sync.Mutex
	paid time.Time // the lines so far are paid for until then, at one a minute
}

const (
	linesLogged = 10
	lineEach    = time.Minute
)

// If not, it says how long it takes until one may be.
func (l *lineLimit) admit(now time.Time) (ok bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paid.Before(now) {
		l.paid = now
	}
	if wait = l.paid.Sub(now) - (linesLogged-1)*lineEach; wait > 0 {
		return false, wait
	}
	l.paid = l.paid.Add(lineEach)
	return true, 0
}

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
