package workflow

import (
	"context"

	"github.com/understudy-go/understudy/internal/extension"
)

// span begins the trace of a run, below the span of the message that begins it if that has one. It
// returns what carries the span, nil without a tracer. The spans of steps are below it, on
// whichever node they run.
func (in *instance) span() []byte {
	ctx, end := extension.StartSpan(in.ctx, in.described("run"))
	if end == nil {
		ctx, end = extension.StartSpanWithin(in.ctx, in.system, in.described("run"))
	}
	if end == nil {
		return nil
	}
	defer end(nil)
	return extension.TracerOf(in.system).Inject(ctx)
}

func (in *instance) described(operation string) extension.Span {
	return extension.Span{Operation: operation, Subject: in.name, Path: func() string { return in.entity.PersistenceID() }}
}

// traced begins the span of an attempt, which ends with the function that it returns.
func (in *instance) traced(ctx context.Context, carried []byte, step string) (within context.Context, end func(error)) {
	t := extension.TracerOf(in.system)
	if t == nil || carried == nil {
		return ctx, func(error) {}
	}
	of := in.described("step")
	of.Subject = step
	return t.Start(ctx, carried, of)
}
