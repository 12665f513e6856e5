package failover

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// clientsPerNode send increments through each node, all at the same time.
const clientsPerNode = 4

// A client sends increments to the counter, one after the other, through the ref of its node. It
// sends an increment that is not acknowledged in time again, with the same ID.
type client struct {
	name    string
	counter actor.ActorRef[Msg]
	sent    *atomic.Uint64
	acked   func(Ack)
}

// patience is how long a client waits before it sends an increment again. Increments in a node's
// buffer are answered as soon as an instance runs. Increments that were lost with a host must be
// sent again.
const patience = 2 * time.Second

// run sends until stop is closed and the last increment has been acknowledged, or ctx ends.
func (c *client) run(ctx context.Context, stop <-chan struct{}) {
	for n := uint64(1); ; n++ {
		id := ID{Client: c.name, N: n}
		for !c.send(ctx, id) {
			if ctx.Err() != nil {
				return
			}
		}
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func (c *client) send(ctx context.Context, id ID) bool {
	c.sent.Add(1)
	ack, err := actor.AskTimeout(ctx, c.counter, patience, func(replyTo actor.ActorRef[Ack]) Msg { return Increment{id, replyTo} })
	if err != nil {
		return false
	}
	c.acked(ack)
	return true
}

// A crew is the clients of one node.
type crew struct {
	sent    atomic.Uint64
	stop    chan struct{}
	stopped sync.Once
	done    sync.WaitGroup
}

func newCrew() *crew { return &crew{stop: make(chan struct{})} }

// start starts the clients of a run of a node.
func (w *crew) start(ctx context.Context, run string, counter actor.ActorRef[Msg], acked func(Ack)) {
	for i := range clientsPerNode {
		c := &client{name: fmt.Sprintf("%s-%c", run, 'a'+i), counter: counter, sent: &w.sent, acked: acked}
		w.done.Go(func() { c.run(ctx, w.stop) })
	}
}

// finish lets every client get its last increment acknowledged.
func (w *crew) finish() {
	w.stopped.Do(func() { close(w.stop) })
	w.done.Wait()
}
