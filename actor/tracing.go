package actor

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/tracecontext"
)

type span struct {
	ctx    context.Context // with the span of the tracer, inside the context of the actor
	finish func(error)
	err    error // with which the actor has failed
}

// The panic itself is in the log.
var errHandlerPanicked = errors.New("the handler panicked or called runtime.Goexit")

// A nil span is not in a trace.
func (s *span) end(returned bool) {
	switch {
	case s == nil:
	case returned || s.err != nil:
		s.finish(s.err)
	default:
		s.finish(errHandlerPanicked)
	}
}

func (s internals) SetTracer(t actorhook.Tracer) { s.tracer = guardTracer(s.System, t) }

func (s internals) Tracer() actorhook.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}

type traced interface{ internals() *inside }

func traceOf(ctx context.Context, s *System) metadata.Metadata {
	if s == nil || s.tracer == nil {
		return metadata.Metadata{}
	}
	if of, ok := ctx.(traced); ok { // and no search through the contexts of all parents
		return of.internals().span.carried(s.tracer)
	}
	carried := s.tracer.Inject(ctx)
	if carried == nil { // most messages are in no trace
		return metadata.Metadata{}
	}
	return metadata.Metadata{}.With(metadata.Trace, carried)
}

// The span may be nil.
func (s *span) carried(t *guardedTracer) metadata.Metadata {
	if s == nil {
		return metadata.Metadata{}
	}
	return metadata.Metadata{}.With(metadata.Trace, t.Inject(s.ctx))
}

// beginSpan returns nil if d is in no trace, and for the actors of the framework, which only pass
// on what they get, except what they deliver to a behavior of the user.
func beginSpan(c *cell, d *described) *span {
	if c.core.sys.tracer == nil {
		return nil
	}
	kind := c.tally.counts.of.name
	if kind == actorhook.OwnKind {
		if kind, _ = d.delivering(); kind == "" {
			return nil
		}
	}
	what := actorhook.Span{Operation: "process", Subject: kind, Path: c.core.path, Message: d.message}
	carried, ok := d.metadata.Get(metadata.Trace)
	if !ok {
		carried, what.Linked = d.metadata.Get(metadata.LinkedTrace)
	}
	if carried == nil {
		return nil
	}
	s := new(span)
	s.ctx, s.finish = c.core.sys.tracer.Start(c.core.context(), carried, what)
	return s
}

// The message may be nil.
func (it *item) message() any {
	if kind, msg := it.delivering(); kind != "" {
		return msg
	}
	msg, ok := it.undelivered()
	if !ok {
		return nil
	}
	return msg
}

// kind is "" for other items.
func (it *item) delivering() (kind string, msg any) {
	if d, ok := it.task.(interface{ delivering() (kind string, msg any) }); ok {
		return d.delivering()
	}
	return "", nil
}

// asking is the metadata of the request. end is nil if ctx is in no trace. none has the type of the
// messages. The system of to traces.
func beginAsk(ctx context.Context, to *core, none any) (asking metadata.Metadata, end func(error)) { //nolint:contextcheck // the context of a span is inside ctx
	s := to.sys
	if asking = traceOf(ctx, s); asking.IsEmpty() {
		return asking, nil
	}
	if of, ok := ctx.(traced); ok {
		ctx = of.internals().span.ctx
	}
	ctx, end = s.tracer.Start(ctx, nil, actorhook.Span{
		Operation: "ask", Path: to.fullPath, Message: func() any { return none },
	})
	return metadata.Metadata{}.With(metadata.Trace, s.tracer.Inject(ctx)), end
}

func traces(c *core) bool { return c != nil && c.sys != nil && c.sys.tracer != nil }

// The trace goes on with the span that sends the message.
//
//nolint:contextcheck,nolintlint // a message has no context; only contextcheck reads this here
func hop(tracer actorhook.Tracer, to *actorhook.Target, m metadata.Metadata, msg any) metadata.Metadata {
	carried, ok := m.Get(metadata.Trace)
	if !ok || tracer == nil {
		return m
	}
	ctx, sent := tracer.Start(context.Background(), carried, actorhook.Span{
		Operation: "send", Subject: to.Address,
		Path: func() string { return to.Full }, Message: func() any { return msg },
	})
	defer sent(nil)
	if below := tracer.Inject(ctx); below != nil {
		return m.With(metadata.Trace, below)
	}
	return m // the hop has no span
}

func current[M any](x *box[M]) *Context[M] {
	s := x.cell.span
	if x.cell.core.outside {
		s = x.cell.core.outermost().span
	}
	if s == nil {
		return &x.ctx
	}
	return &Context[M]{inside{&x.cell, s}}
}

func (s *span) fail(err error) {
	if s != nil {
		s.err = err
	}
}

func (x *inside) within() context.Context {
	if x.span != nil {
		return x.span.ctx
	}
	return x.life()
}

func (x *inside) consequence() metadata.Metadata { return x.span.carried(x.cell.core.sys.tracer) }

func (x *inside) link() metadata.Metadata {
	if x.span == nil {
		return metadata.Metadata{}
	}
	return metadata.Metadata{}.With(metadata.LinkedTrace, x.cell.core.sys.tracer.Inject(x.span.ctx))
}

func (x *inside) StartSpan(ctx context.Context, s actorhook.Span) (within context.Context, end func(error)) {
	if x.span == nil {
		return ctx, nil
	}
	return x.cell.core.sys.tracer.Start(x.span.ctx, nil, s)
}

func (s internals) TraceOf(ctx context.Context) metadata.Metadata { return traceOf(ctx, s.System) }

func (s *span) log(l *zap.Logger, t *guardedTracer) *zap.Logger {
	carried := t.Inject(s.ctx)
	if len(carried) < tracecontext.Size {
		return l
	}
	return l.With(zap.String("trace_id", hex.EncodeToString(carried[:16])), zap.String("span_id", hex.EncodeToString(carried[16:24])))
}

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
