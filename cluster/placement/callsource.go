package placement

import (
	"context"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/singleton/generation"
)

// ask makes the call, and returns what has come of it.
func (e call) ask(ctx context.Context, source generation.Source, log *zap.Logger) sourced {
	out := sourced{call: e.call}
	switch e.op {
	case claimTerm:
		out.generation, out.err = source.ClaimTerm(ctx, e.label, e.owner, 0)
	case claimSeq:
		out.generation, out.err = source.ClaimSeq(ctx, e.label)
	case putSpec:
		var spec []byte
		if spec, out.err = codec.Marshal(e.spec); out.err == nil {
			out.err = source.PutSpec(ctx, e.label, spec)
		}
	case list:
		var records []generation.Record
		if records, out.err = source.List(ctx); out.err == nil {
			out.records = readable(records, log)
		}
	case forget:
		out.err = source.Forget(ctx, e.label)
	}
	return out
}

// readable returns the records that can be read. One that cannot, as a later version has
// written it or it is damaged, keeps none of the others from being served; what runs of it
// is stopped, until its label is started anew.
func readable(records []generation.Record, log *zap.Logger) []sourceRecord {
	out := make([]sourceRecord, 0, len(records))
	for _, r := range records {
		var spec SingletonSpec
		if err := codec.Unmarshal(r.Spec, &spec); err != nil {
			log.Error("singleton cannot be read; start it again", zap.String("label", r.Label), zap.Error(err))
			continue
		}
		out = append(out, sourceRecord{spec: spec, owner: r.Ownership.Owner, generation: r.Ownership.Generation})
	}
	return out
}
