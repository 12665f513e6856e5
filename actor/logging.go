package actor

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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
