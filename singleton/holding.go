package singleton

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/internal/fence"
)

// A holding is the generation of a running instance, which its journal may raise. It
// lives in the context of the instance.
type holding struct {
	mu  sync.Mutex // guards gen
	gen Generation
}

// hold returns the context of the instance of generation gen at path. told is called with what
// becomes of it, whenever the instance, or what it has spawned, has claimed to write.
func hold(ctx context.Context, path string, gen Generation, told func(fenceHeld)) context.Context {
	h := &holding{gen: gen}
	ctx = context.WithValue(ctx, generationKey{}, h)
	return fence.With(ctx, fence.Holder{
		Path:    path,
		Floor:   func() (uint64, error) { return h.now().Packed() },
		Claimed: func(epoch uint64) { told(fenceHeld{gen: gen, raised: h.raise(Unpack(epoch))}) },
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
