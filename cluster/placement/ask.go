package placement

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton"
)

// repeatable reports whether the operation is idempotent. After an error of another operation, the
// caller must find out whether it was done.
func (op operation) repeatable() bool {
	switch op {
	case opSpecs, opView, opExplain, opOverview, opSingleton, opDrain, opRemove:
		return true
	case opSubmit, opStartSingleton, opMoveSingleton, opStopSingleton:
	}
	return false
}

// errMoved: the coordinator has moved to another node, so the one that was asked will not answer.
var errMoved = errors.New("the coordinator has moved")

// askAgain asks the coordinator. If the coordinator moves before it has answered, a repeatable
// operation is asked again.
func (c *Coordinator) askAgain(ctx context.Context, r request) (answer, error) {
	if !r.Op.repeatable() {
		return c.askOnce(ctx, r)
	}
	for first := true; ; first = false {
		a, err := c.askUntilItMoves(ctx, r)
		switch {
		case errors.Is(err, errMoved):
			continue
		case !first && r.Op == opRemove && errors.Is(extension.UnpackError(nil, a.Failure), ErrNotFound):
			return answer{}, nil // the first request has removed it
		}
		return a, err
	}
}

func (c *Coordinator) askOnce(ctx context.Context, r request) (answer, error) {
	return actor.Ask(ctx, c.ref, func(replyTo actor.ActorRef[answer]) home.Input {
		r.ReplyTo = replyTo
		return r
	})
}

// askUntilItMoves calls askOnce. It returns errMoved when the coordinator moves.
func (c *Coordinator) askUntilItMoves(ctx context.Context, r request) (answer, error) {
	asking, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.awaitMove(asking)
		cancel(errMoved)
	}()
	a, err := c.askOnce(asking, r)
	moved := err != nil && errors.Is(context.Cause(asking), errMoved)
	cancel(nil)
	<-watched
	if moved {
		return answer{}, errMoved
	}
	return a, err
}

// pollEvery is how often a caller that waits for an answer checks whether the coordinator has
// moved.
const pollEvery = 250 * time.Millisecond

// awaitMove returns when the coordinator has moved to another node, or ctx ends.
func (c *Coordinator) awaitMove(ctx context.Context) {
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for at := c.host(); ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now := c.host()
		switch {
		case at == "":
			at = now
		case now != "" && now != at:
			return
		}
	}
}

// host returns the address of the node that runs the coordinator or is going to; "" if it is
// unknown.
func (c *Coordinator) host() string {
	status, _ := singleton.StatusOf(c.node.System, singletonName)
	return status.Host
}
