package placement

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A GenerationSource issues the terms of singletons, for example from a sequence in a database that
// also numbers other owners. By default the coordinator issues them in cluster.Config.Journal.
type GenerationSource interface {
	// ClaimTerm returns a term for a new owner of the singleton label: the name of a node. The term
	// is greater than floor and than every term ever returned for label, on any node, and less than
	// 2³². After an error a term may be skipped. The coordinator gives up after 10 s, when ctx
	// ends, and tries again later. It calls ClaimTerm from several goroutines.
	ClaimTerm(ctx context.Context, label, owner string, floor uint64) (term uint64, err error)
}

// claimTimeout is how long a call of a GenerationSource may take.
const claimTimeout = 10 * time.Second

// claim claims a term, in a goroutine of its own.
func (c *coordinator) claim(e claimTerm) {
	source := c.cfg.Generations
	actor.PipeToSelf(c.Ctx, func(ctx context.Context) (uint64, error) {
		ctx, cancel := context.WithTimeout(ctx, claimTimeout)
		defer cancel()
		return source.ClaimTerm(ctx, e.Label, e.Owner, e.Floor)
	}, func(term uint64, err error) home.Input {
		if err != nil {
			c.Ctx.Log().Warn("no term claimed", zap.String("label", e.Label), zap.Error(err))
		}
		return termClaimed{Number: e.Number, Term: term, Err: err}
	})
}
