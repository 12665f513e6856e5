package actor

import (
	"context"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

// A guardedTracer calls a tracer of the user, on the way of messages. A panic there costs a span,
// and nothing else: the message goes on. It implements actorhook.Tracer; the system calls it
// directly, because each message under a context pays for the guard.
type guardedTracer struct {
	tracer actorhook.Tracer
	sys    *System
	log    sync.Once // of the first panic: each message may lead to another
}

// guardTracer returns nil if t is nil.
func guardTracer(s *System, t actorhook.Tracer) *guardedTracer {
	if t == nil {
		return nil
	}
	return &guardedTracer{tracer: t, sys: s}
}

// Inject returns nil if the tracer panics: the message is in no trace.
func (g *guardedTracer) Inject(ctx context.Context) (carried []byte) {
	defer g.recover("Inject")
	return g.tracer.Inject(ctx)
}

// Start returns ctx itself if the tracer panics.
func (g *guardedTracer) Start(ctx context.Context, carried []byte, s actorhook.Span) (within context.Context, end func(error)) {
	within, end = ctx, func(error) {}
	defer g.recover("Start")
	inside, finish := g.tracer.Start(ctx, carried, s)
	if inside == nil {
		inside = ctx
	}
	return inside, func(err error) {
		defer g.recover("end")
		finish(err)
	}
}

// recover logs the first panic only. It must be deferred.
func (g *guardedTracer) recover(during string) {
	if r := recover(); r != nil {
		err := guard.Recovered(r)
		g.log.Do(func() {
			logWithStack(g.sys.log, zapcore.ErrorLevel, "tracer has panicked; spans are missing from now on, and further panics are not logged", err, zap.String("during", during))
		})
	}
}
