package persistence

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/volatile"
)

// watchMemory says that the events of an id are in the memory of this process. It returns nil where
// that is allowed.
func watchMemory(s *actor.System, id string) *volatile.Watch {
	w := volatile.Of(s)
	w.Used(id)
	if !w.Forbids() {
		return nil
	}
	return w
}

// refusedMemory fails with [ErrInMemory] once the cluster has another process. w may be nil.
func refusedMemory(w *volatile.Watch) error {
	if w == nil {
		return nil
	}
	if member, refused := w.Refusal(); refused {
		return fmt.Errorf("%w, such as the process of %s, which would find nothing of it: open one that all nodes share, such as persistence/postgres, or persistence/sqlite on one machine", ErrInMemory, member)
	}
	return nil
}
