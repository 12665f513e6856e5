package sharding

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/guardedlease"
	"github.com/understudy-go/understudy/internal/leasespan"
	"github.com/understudy-go/understudy/singleton/lease"
)

type fenceKey struct{ typ, node string }

// fence takes the lease of a former member and gives it back, in a goroutine of its own. The handle
// is kept until it has been taken: a store may need to have seen it for some time.
func (c *coordinator) fence(f allot.Fence) {
	l, err := c.fenceLease(fenceKey{f.Type, f.Node.Name})
	if err != nil {
		c.Ctx.Self().Tell(allot.FenceAnswered{Fence: f, Why: err.Error()})
		return
	}
	system, log, holder := c.Ctx.System(), c.Ctx.Log(), c.Ctx.Self().Path()
	actor.PipeToSelf(c.Ctx, func(ctx context.Context) (bool, error) {
		held, err := leasespan.Acquire(ctx, system, leasespan.Attempt{Lease: l.String(), Holder: holder}, l.Acquire)
		if held && err == nil {
			if err := release(ctx, l); err != nil {
				log.Warn("lease of a former member not given back; "+guardedlease.Outlook(l), zap.Stringer("lease", l), zap.Error(err))
			}
		}
		return held, err
	}, func(held bool, err error) home.Input {
		answer := allot.FenceAnswered{Fence: f, Held: held && err == nil}
		if answer.Held {
			delete(c.fences, fenceKey{f.Type, f.Node.Name})
		} else {
			answer.Why = whyNotHeld(err)
		}
		return answer
	})
}

// fenceLease returns the handle of the lease of a former member.
func (c *coordinator) fenceLease(of fenceKey) (lease.Lease, error) {
	if l := c.fences[of]; l != nil {
		return l, nil
	}
	r := c.hub.region(of.typ)
	if r == nil {
		return nil, errors.New("the coordinator's node has not started the type")
	}
	l, err := leaseOf(c.Ctx.System(), r, of.node)
	if err == nil {
		c.fences[of] = l
	}
	return l, err
}

// whyNotHeld says why a lease was not to be had.
func whyNotHeld(err error) string {
	if err == nil {
		return "another has it"
	}
	return err.Error()
}
