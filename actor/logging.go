package actor

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logWithStack logs an error. For a panic the entry has the stack of the goroutine that panicked.
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

// A lineLimit admits the first few lines to the log, and then none for a while.
type lineLimit struct {
	mu      sync.Mutex // guards all below
	logged  int
	silence time.Time // until then nothing is logged
}

const (
	linesLogged = 10
	lineSilence = 5 * time.Minute
)

func (l *lineLimit) admit(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.silence) {
		return false
	}
	l.logged++
	if l.logged == linesLogged {
		l.logged, l.silence = 0, now.Add(lineSilence)
	}
	return true
}
