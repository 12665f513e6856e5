package sharding

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/pause"
)

const (
	// drainTimeout is how long a node that leaves waits until its shards have moved: longer than
	// entities take to stop.
	drainTimeout = 30 * time.Second

	// drainAgain is how often the coordinator is asked to move the shards of a node that leaves: it
	// may have ended since the last time, and the next one does not know of the request.
	drainAgain = 500 * time.Millisecond
)

// errNobodyLeft is why a node does not wait for its shards to move.
var errNobodyLeft = errors.New("no other member is up that could host shards")

// drain moves all shards away from this node. It returns when they have moved, or when nobody is
// left to take them: then they end with the node.
func (c *clustered) drain(ctx context.Context) error {
	c.mu.Lock()
	c.leaves = true
	c.mu.Unlock()
	c.hub.ref.Tell(helloDue{})
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		for v := range c.node.Views(ctx) {
			if !hasSuccessor(v) {
				cancel(errNobodyLeft)
				return
			}
		}
	}()
	for {
		err := c.askToDrain(ctx)
		switch {
		case err == nil:
			c.hub.passOn(ctx)
			return nil
		case errors.Is(context.Cause(ctx), errNobodyLeft):
			return nil
		case ctx.Err() != nil:
			return errors.Join(errors.New("sharding: not all shards of this node have moved"), err)
		}
	}
}

// passPatience is how long a node whose shards have moved waits for messages that cannot go on.
const passPatience = 5 * time.Second

// passOn waits until no message waits here, for a shard on its way from one node to another: they
// would be lost with this node.
func (h *hub) passOn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, passPatience)
	defer cancel()
	for pause.For(ctx, 10*time.Millisecond) == nil {
		held := 0
		h.each(func(r *region) { held += r.status().Held })
		if held == 0 {
			return
		}
	}
}

// askToDrain asks the coordinator once. After an error it returns when it is time to ask again.
func (c *clustered) askToDrain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainAgain)
	defer cancel()
	self := c.node.View().Self
	_, err := actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[drained]) home.Input {
		return drainRequest{Node: self.Name, Incarnation: self.Incarnation, ReplyTo: r}
	})
	if err != nil {
		<-ctx.Done()
	}
	return err
}

// hasSuccessor reports whether a member may take shards of this node. One that leaves does not.
func hasSuccessor(v cluster.View) bool {
	return slices.ContainsFunc(v.Members, func(m cluster.Member) bool {
		return m.ID() != v.Self.ID() && m.Status == cluster.Up && v.Reachable(m)
	})
}
