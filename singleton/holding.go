package singleton

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/internal/fence"
	"github.com/understudy-go/understudy/singleton/generation"
)

// A holding is the generation of a running instance, which its journal may raise. It
// lives in the context of the instance.
type holding struct {
	mu  sync.Mutex // guards gen
	gen Generation
}

// WithGeneration returns a context under which the actor at path, given by
// actor.WithContext, is an instance of generation gen: [GenerationOf] returns it, and what is
// event-sourced claims to write with at least that epoch. It is for managers of instances
// that are not those of this package, such as package placement's; path is that of
// actor.ActorRef.Path.
func WithGeneration(ctx context.Context, path string, gen Generation) context.Context {
	return hold(ctx, path, gen, func(fenceHeld) {})
}

// hold returns the context of the instance of generation gen at path. told is called with what
// becomes of it, whenever the instance, or what it has spawned, has claimed to write.
func hold(ctx context.Context, path string, gen Generation, told func(fenceHeld)) context.Context {
	h := &holding{gen: gen}
	ctx = context.WithValue(ctx, generationKey{}, h)
	return fence.With(ctx, fence.Holder{
		Path:    path,
		Floor:   func() (uint64, error) { return h.now().Packed() },
		Claimed: func(epoch uint64) { told(fenceHeld{gen: gen, raised: h.raise(generation.Unpack(epoch))}) },
	})
}

func (h *holding) now() Generation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gen
}

// raise returns the later of the generation and to, and makes that the generation.
func (h *holding) raise(to Generation) Generation {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gen.Less(to) {
		h.gen = to
	}
	return h.gen
}
