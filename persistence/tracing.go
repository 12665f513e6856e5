package persistence

import (
	"maps"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tracecontext"
	"github.com/understudy-go/understudy/persistence/journal"
)

// storing ends the span of a write, unless it is nil.
type storing func(error)

func (s storing) end(err error) {
	if s != nil {
		s(err)
	}
}

// trace begins the span in which req is stored, if the command with that Context is in a trace. The
// records then carry it, so that projections link to it.
func trace(e *entity, ctx actorContext, req *journal.AppendRequest) storing {
	tracer := extension.TracerOf(ctx.System())
	if tracer == nil {
		return nil
	}
	within, end := extension.StartSpan(ctx, extension.Span{Operation: "persist", Path: e.self.Path})
	if end == nil {
		return nil
	}
	text := tracecontext.Text(tracer.Inject(within))
	for i := range req.Records {
		r := &req.Records[i]
		meta := map[string]string{tracecontext.Key: text}
		maps.Copy(meta, r.Meta)
		r.Meta = meta
	}
	return end
}
