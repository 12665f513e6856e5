package cluster

import (
	"context"
	"sync"
	"time"
)

const onDemandHold = time.Second

// An onDemand holds what others are asked for only while somebody looks at a status page. Its zero
// value holds the zero T.
type onDemand[T any] struct {
	mu     sync.Mutex // guards the fields below
	held   T
	asked  time.Time
	asking chan struct{} // closed when the answer is in; nil while nobody asks
}

// refresh calls ask, and changes what is held by the function that it returns. If the last answer
// is new enough, refresh returns at once. If another caller asks already, refresh waits for that
// answer, or until ctx ends.
func (o *onDemand[T]) refresh(ctx context.Context, ask func() (change func(T) T)) {
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
func (o *onDemand[T]) begin(now time.Time) (end func(change func(T) T), wait <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asking != nil {
		return nil, o.asking
	}
	if !o.asked.IsZero() && now.Sub(o.asked) < onDemandHold {
		return nil, nil
	}
	o.asking = make(chan struct{})
	return o.end, nil
}

func (o *onDemand[T]) end(change func(T) T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held, o.asked = change(o.held), time.Now()
	close(o.asking)
	o.asking = nil
}

// read returns what is held. Nobody may change it.
func (o *onDemand[T]) read() T {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held
}
