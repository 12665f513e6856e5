package placement

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
)

// maxHeld is how many messages a ref buffers while its actor does not run.
const maxHeld = 1000

// The reasons for which messages to a ref of [Type.Ref] are not handled. Compare with [errors.Is].
var (
	// ErrUnavailable: this node knows of no actor of the label that it can reach; the text says
	// why, since when, and until when at the latest if a node has died, unless [WaitForReturn]
	// waits longer. Check that the label was submitted, and ask [Coordinator.Explain] why it does
	// not run. Ask again if the error of the ask wraps [actor.ErrWithdrawn]; otherwise the request
	// may have been handled.
	ErrUnavailable = errors.New("placement: no actor of that label runs")

	// ErrBufferFull: no actor of the label runs, and more than 1000 messages wait for one. The
	// oldest are dropped. It wraps [ErrUnavailable].
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrUnavailable)
)

func init() {
	actor.RegisterError("understudy/placement.unavailable", ErrUnavailable)
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
