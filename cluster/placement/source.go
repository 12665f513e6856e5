package placement

import (
	"context"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/singleton/generation"
)

// askSource makes a call of the planner to the source, and returns the answer.
func askSource(ctx context.Context, source generation.Source, e plan.SourceCall, log *zap.Logger) plan.SourceAnswer {
	out := plan.SourceAnswer{Number: e.Number}
	switch e.Op {
	case plan.OpClaimTerm:
		out.Generation, out.Err = source.ClaimTerm(ctx, e.Label, e.Owner, e.Floor)
	case plan.OpClaimSeq:
		out.Generation, out.Err = source.ClaimSeq(ctx, e.Label)
	case plan.OpPutSpec:
		var spec []byte
		if spec, out.Err = plan.EncodeSingletonSpec(e.Spec); out.Err == nil {
			out.Err = source.PutSpec(ctx, e.Label, spec)
		}
	case plan.OpList:
		var records []generation.Record
		if records, out.Err = source.List(ctx); out.Err == nil {
			out.Records = readable(records, log)
		}
	case plan.OpForget:
		out.Err = source.Forget(ctx, e.Label)
	}
	return out
}

// readable returns the records that can be decoded. A record may be undecodable because it is
// damaged or a later version has written it; this must not affect the other records. The instance
// of such a record stays stopped until a singleton of that label is started again.
func readable(records []generation.Record, log *zap.Logger) []plan.SourceRecord {
	out := make([]plan.SourceRecord, 0, len(records))
	for _, r := range records {
		spec, err := plan.DecodeSingletonSpec(r.Spec)
		if err != nil {
			log.Error("singleton cannot be read; start it again", zap.String("label", r.Label), zap.Error(err))
			continue
		}
		out = append(out, plan.SourceRecord{Spec: spec, Owner: r.Ownership.Owner, Generation: r.Ownership.Generation})
	}
	return out
}
