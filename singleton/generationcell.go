package singleton

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A generationCell has the generation of a running instance, which the instance's journal may
// raise. It is a value in the context of the instance.
type generationCell struct {
	path  string // of the instance
	again bool   // an instance of the same term ran before in the same place

	mu      sync.Mutex // guards gen and claimed
	gen     generation.Generation
	claimed map[string]bool // the persistence ids that the instance itself has claimed
}

// withGeneration returns the context of an instance with that path and generation. again says that
// an instance of the same term ran before in the same place. It calls fenced whenever the instance,
// or an actor that it has spawned, claims a persistence id.
func withGeneration(ctx context.Context, path string, gen generation.Generation, again bool, fenced func(handover.FenceHeld)) context.Context {
	c := &generationCell{path: path, again: again, gen: gen, claimed: map[string]bool{}}
	ctx = context.WithValue(ctx, generationKey{}, c)
	return fence.With(ctx, fence.Holder{
		Path:   path,
		Bounds: c.bounds,
		Claimed: func(claim fence.Claim, epoch uint64) {
			fenced(handover.FenceHeld{Started: gen, Raised: c.raise(claim, generation.Unpack(epoch))})
		},
	})
}

// bounds returns the bounds of the epoch of a claim. A first claim has no upper bound, because
// terms begin again when the whole cluster was stopped, and the journal may be ahead. Later, an
// epoch of a higher term belongs to a newer instance, which must not be fenced off. It can also
// belong to an earlier cluster, if the instance before failed without a claim. The claim is then
// refused as well, and the manager asks for another term.
func (c *generationCell) bounds(claim fence.Claim) (least, below uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if least, err = c.gen.Packed(); err != nil {
		return 0, 0, err
	}
	if claim.Path == c.path && (c.again || c.claimed[claim.ID]) {
		below = (c.gen.Term + 1) << 32
	}
	return least, below, nil
}

func (c *generationCell) now() generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gen
}

// raise sets the generation to to, of a claim, if that is later. It returns the current generation.
func (c *generationCell) raise(claim fence.Claim, to generation.Generation) generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim.Path == c.path {
		c.claimed[claim.ID] = true
	}
	if c.gen.Less(to) {
		c.gen = to
	}
	return c.gen
}
