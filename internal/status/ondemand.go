package status

import (
	"context"
	"sync"
	"time"
)

const (
	// Patience is how long a page waits for the answers of other nodes.
	Patience = 500 * time.Millisecond
	// Hold is how long an answer is new enough.
	Hold = time.Second
)

// An OnDemand holds what others are asked for only while somebody looks at a status page. Its zero
// value holds the zero T.
type OnDemand[T any] struct {
	mu     sync.Mutex // guards the fields below
	held   T
	asked  time.Time
	asking chan struct{} // closed when the answer is in; nil while nobody asks
}

// Refresh calls ask, and changes what is held by the function that it returns. If the last answer
// is new enough, Refresh returns at once. If another caller asks already, Refresh waits for that
// answer, or until ctx ends.
func (o *OnDemand[T]) Refresh(ctx context.Context, ask func() (change func(T) T)) {
	end, wait := o.begin(time.Now())
	switch {
	case end != nil:
		end(ask())
	case wait != nil:
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
}

// begin decides what a caller does. If it returns end, the caller asks, and passes a function to
// end that changes what is held. If it returns wait, another caller asks; wait is closed when the
// answer is in. If both are nil, the last answer is new enough.
func (o *OnDemand[T]) begin(now time.Time) (end func(change func(T) T), wait <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asking != nil {
		return nil, o.asking
	}
	if !o.asked.IsZero() && now.Sub(o.asked) < Hold {
		return nil, nil
	}
	o.asking = make(chan struct{})
	return o.end, nil
}

func (o *OnDemand[T]) end(change func(T) T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held, o.asked = change(o.held), time.Now()
	close(o.asking)
	o.asking = nil
}

// Read returns what is held. Nobody may change it.
func (o *OnDemand[T]) Read() T {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held
}
