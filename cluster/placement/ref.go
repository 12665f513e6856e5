package placement

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/singleton"
)

// maxHeld is how many messages a ref buffers while its actor does not run.
const maxHeld = 1000

// The reasons for which messages to a ref of [Type.Ref] are not handled. Compare with [errors.Is].
var (
	// ErrUnavailable: this node knows of no actor of the label that it can reach, or its node was
	// started again and has not started placement yet. The text says why, since when, and until
	// when at the latest if a node has died, unless [WaitForReturn] waits longer. Check that the
	// label was submitted, and ask [Coordinator.Explain] why it does not run. Ask again if the
	// error of the ask wraps [actor.ErrWithdrawn]; otherwise the request may have been handled.
	ErrUnavailable = shardtree.ErrPlacedUnavailable

	// ErrBufferFull: no actor of the label runs, and more than 1000 messages wait for one. The
	// oldest are dropped. It wraps [ErrUnavailable].
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrUnavailable)
)

func init() {
	actor.RegisterError("understudy/placement.buffer-full", ErrBufferFull)
}

// Ref returns a ref to the actor of a label, on whichever node it runs. It follows the actor to
// other nodes. While this node knows of no running actor that it can reach, it keeps up to 1000
// messages for the label; further messages turn the oldest into dead letters with [ErrBufferFull].
// A label may therefore be used before it has been submitted.
//
// Messages of one sender stay in order. A planned move loses none: the actor handles what it has
// been sent before it ends, and later messages wait for the next actor. Messages are lost, as with
// any actor, if the actor fails or stops by itself before it has handled them, or its node dies;
// use Ask to be sure. An Ask whose request is on a node that is removed from the cluster ends with
// [actor.ErrUnreachable]. An Ask that ends while the actor cannot be reached returns an error that
// wraps [ErrUnavailable].
//
// The ref has no address. It may be sent to other nodes, and leads to the actor on each node that
// has called [Start]; on a client, messages to it become dead letters. Each label costs about 2 KB
// on each node that uses it, for as long as s runs. To watch the placed actor, ask it for its own
// ref.
//
// Ref panics on a client, and if the label is used with another message type on this node. If the
// actor on another node takes another type, messages become dead letters there, with
// [actor.ErrWrongType].
func (t Type[S, M]) Ref(s *actor.System, label string) actor.ActorRef[M] {
	return refTo[M](s, label)
}

func refTo[M any](s *actor.System, label string) actor.ActorRef[M] {
	h := hubOf(s)
	if err := h.lane(escape(label)).use(label, reflect.TypeFor[M]()); err != nil {
		panic(err.Error())
	}
	return actor.Resolve[M](s, h.scheme+tree+escape(label))
}

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
