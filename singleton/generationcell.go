package singleton

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A generationCell has the generation of a running instance, which its journal may raise. It lives
// in the context of the instance.
type generationCell struct {
	mu  sync.Mutex // guards gen
	gen Generation
}

// withGeneration returns the context of the instance of a generation at path. fenced is called
// whenever the instance, or an actor that it has spawned, has claimed to write.
func withGeneration(ctx context.Context, path string, gen Generation, fenced func(handover.FenceHeld)) context.Context {
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

func (c *generationCell) now() Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gen
}

// raise makes to the generation if it is later, and returns the generation.
func (c *generationCell) raise(to Generation) Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen.Less(to) {
		c.gen = to
	}
	return c.gen
}
