package cluster

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/placementstatus"
)

// A placementLook asks the coordinator of placement for what status pages show of it.
type placementLook struct {
	system *actor.System
	seen   onDemand[placementSeen]
}

// placementSeen is the last answer.
type placementSeen struct {
	overview *placementstatus.Overview // nil: there is no placement here, or no answer
	failure  string                    // why there is no answer, or ""
	failed   time.Time
}

// placementRest is how long after a failure the coordinator is not asked again: each vain request
// becomes a dead letter.
const placementRest = 5 * time.Second

// refresh asks the coordinator, and waits up to figuresPatience for the answer. If the last answer
// is new enough, or no placement was started on this node, it returns at once.
func (l *placementLook) refresh(ctx context.Context) {
	ask, has := extension.Get[placementstatus.Source](l.system)
	if !has || time.Since(l.seen.read().failed) < placementRest {
		return
	}
	l.seen.refresh(ctx, func() func(placementSeen) placementSeen {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figuresPatience) // others wait
		defer cancel()
		now := placementSeen{}
		if o, err := ask(ctx); err != nil {
			now.failure, now.failed = figureText(guard.Text(err)), time.Now()
		} else {
			now.overview = &o
		}
		return func(placementSeen) placementSeen { return now }
	})
}
