package sharding

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/singleton/lease"
)

type fenceKey struct{ typ, node string }

// fence takes the lease of a former member and gives it back, in a goroutine of its own. The holder
// is kept until it has been taken: a store may need to have seen its handle for some time.
func (c *coordinator) fence(f allot.Fence) {
	of := fenceKey{f.Type, f.Node.Name}
	h := c.fences[of]
	if h == nil {
		h = c.newFence(of)
		c.fences[of] = h
	}
	log := c.Ctx.Log()
	actor.PipeToSelf(c.Ctx, func(ctx context.Context) (leaseholder.Answer, error) {
		answered := make(chan leaseholder.Answer, 1)
		h.Acquire(ctx, 0, func(a leaseholder.Answer) { answered <- a })
		a := <-answered
		if a.Held {
			if err := h.Close(); err != nil { //nolint:contextcheck // the lease is given back also if ctx has ended
				log.Warn("lease of a former member not given back; "+h.Outlook(), zap.Stringer("lease", h), zap.Error(err))
			}
		}
		return a, nil
	}, func(a leaseholder.Answer, _ error) home.Input {
		answer := allot.FenceAnswered{Fence: f, Held: a.Held}
		if a.Held {
			delete(c.fences, of)
		} else {
			answer.Why = whyNotHeld(a.Err)
		}
		return answer
	})
}

// newFence returns the holder of the lease of a former member. Its loss means nothing: what it
// says, that nothing runs there any more, was true when it was taken.
func (c *coordinator) newFence(of fenceKey) *leaseholder.Holder {
	system, hub := c.Ctx.System(), c.hub
	return leaseholder.New(leaseholder.Config{
		System: system, User: c.Ctx.Self().Path(), Lost: func(error) {},
		Create: func() (lease.Lease, error) {
			r := hub.region(of.typ)
			if r == nil {
				return nil, errors.New("the coordinator's node has not started the type")
			}
			return leaseOf(system, r, of.node)
		},
	})
}

// dropFences ends the holders that have not taken their leases, when the coordinator ends.
func (c *coordinator) dropFences() {
	for _, h := range c.fences {
		go func() { _ = h.Close() }()
	}
}
