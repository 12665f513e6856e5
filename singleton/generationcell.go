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
	mu  sync.Mutex // guards gen
	gen generation.Generation
}

// withGeneration returns the context of an instance with that path and generation. fenced is called
// whenever the instance, or an actor that it has spawned, claims to write.
func withGeneration(ctx context.Context, path string, gen generation.Generation, fenced func(handover.FenceHeld)) context.Context {
	c := &generationCell{gen: gen}
	ctx = context.WithValue(ctx, generationKey{}, c)
	return fence.With(ctx, fence.Holder{
		Path:  path,
		Floor: func() (uint64, error) { return c.now().Packed() },
		Claimed: func(epoch uint64) {
			fenced(handover.FenceHeld{Started: gen, Raised: c.raise(generation.Unpack(epoch))})
		},
	})
}

func (c *generationCell) now() generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gen
}

// raise sets the generation to to if that is later, and returns the current generation.
func (c *generationCell) raise(to generation.Generation) generation.Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen.Less(to) {
		c.gen = to
	}
	return c.gen
}
