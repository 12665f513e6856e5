package projection

import (
	"context"
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

// MemoryOffsets is an [OffsetStore] in memory, for tests and for read models in memory, which every
// process must rebuild. The zero value is empty.
type MemoryOffsets struct {
	mu     sync.Mutex // guards byName
	byName map[string]journal.Offset
}

// Load implements [OffsetStore].
func (o *MemoryOffsets) Load(_ context.Context, name string) (journal.Offset, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byName[name], nil
}

// Save implements [OffsetStore].
func (o *MemoryOffsets) Save(_ context.Context, name string, after, to journal.Offset) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.byName[name]; found != after {
		return moved(name, after)
	}
	if o.byName == nil {
		o.byName = map[string]journal.Offset{}
	}
	o.byName[name] = to
	return nil
}

func moved(name string, after journal.Offset) error {
	return fmt.Errorf("%w: the offset of %q is no longer %q; run one projection of a name at a time, as a singleton", ErrMoved, name, after)
}
