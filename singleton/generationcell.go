package singleton

import (
	"context"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/internal/generation"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A generationCell has the generation of a running instance, which the instance's journal may
// raise. It is a value in the context of the instance.
type generationCell struct {
	path string // of the instance

	mu      sync.Mutex // guards the fields below
	gen     generation.Generation
	claimed bool                  // the instance itself has claimed a persistence id
	refused generation.Generation // the highest that a refused claim has found; zero if none was refused
	failure error                 // because of the refused claim of an actor that the instance has spawned
}

// generationHooks say what happens when actors of an instance claim persistence ids. Any goroutine
// may call the functions.
type generationHooks struct {
	claimed func(handover.FenceHeld) // may be nil
	refused func(err error)          // a claim of an actor that the instance has spawned was refused, so the instance must end
	quiet   bool                     // the first claim of the instance itself may be refused without a failure
}

// withGeneration returns the context of an instance with that path and generation.
func withGeneration(ctx context.Context, path string, gen generation.Generation, on generationHooks) (context.Context, *generationCell) {
	c := &generationCell{path: path, gen: gen}
	ctx = context.WithValue(ctx, actorhook.GenerationKey{}, c)
	return fence.With(ctx, fence.Holder{
		Path:   path,
		Bounds: c.bounds,
		Claimed: func(claim fence.Claim, epoch uint64) {
			raised := c.raise(claim, generation.Unpack(epoch))
			if on.claimed != nil {
				on.claimed(handover.FenceHeld{Started: gen, Raised: raised})
			}
		},
		Refused: func(claim fence.Claim, newest uint64) (quietly bool) {
			if claim.Path != path {
				on.refused(c.fail(claim, newest))
				return true
			}
			return c.refuse(generation.Unpack(newest)) && on.quiet
		},
	}), c
}

// bounds returns the bounds of the epoch of a claim: those of the present term. An epoch of a
// higher term may belong to the next instance, which must not be fenced off. It can also belong to
// an earlier cluster, because terms begin again when a whole cluster was stopped. The claim is
// refused in both cases, and the manager asks for a term above the one that was found.
func (c *generationCell) bounds(fence.Claim) (least, below uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if least, err = c.gen.Packed(); err != nil {
		return 0, 0, err
	}
	return least, (c.gen.Term + 1) << 32, nil
}

func (c *generationCell) now() generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gen
}

// Generation implements actorhook.Generation, for the lines that the instance logs.
func (c *generationCell) Generation() fmt.Stringer { return c.now() }

// raise takes over the generation of a claim, if it is later. It returns the current generation.
func (c *generationCell) raise(claim fence.Claim, to generation.Generation) generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claimed = c.claimed || claim.Path == c.path
	if c.gen.Less(to) {
		c.gen = to
	}
	return c.gen
}

// refuse notes what a refused claim of the instance itself has found. It reports whether that was
// its first claim: then nothing has failed, and the instance only needs a later term.
func (c *generationCell) refuse(by generation.Generation) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused.Less(by) {
		c.refused = by
	}
	return !c.claimed
}

// fail notes what a refused claim of an actor that the instance has spawned has found. It returns
// the failure of the instance: the one with the highest term.
func (c *generationCell) fail(claim fence.Claim, newest uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by := generation.Unpack(newest); c.failure == nil || c.refused.Less(by) {
		c.refused, c.failure = by, fence.LaterClaim(claim, newest)
	}
	return c.failure
}

// outcome returns the highest generation that a refused claim has found, or zero, and the failure
// of the instance that follows from it, or nil.
func (c *generationCell) outcome() (refusedBy generation.Generation, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused, c.failure
}
