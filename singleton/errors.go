package singleton

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/fence"
)

// Why messages to a singleton become dead letters. Compare with [errors.Is].
var (
	// ErrUnavailable: there is no instance that this node knows of and can reach. An
	// [actor.Ask] that ends while its request is held wraps it, with what is known of the
	// reason; so does ErrBufferFull.
	ErrUnavailable = errors.New("singleton: no instance")
	// ErrBufferFull: there was no instance, and the node's buffer had no room left.
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrUnavailable)
	// ErrHeldTooLong: there was no instance for as long as [Expire] allows.
	ErrHeldTooLong = fmt.Errorf("%w, and the message has waited for longer than Expire allows", ErrUnavailable)
	// ErrMismatch: the node's singleton of that name has another message type or other
	// settings than that of the other nodes, so that it can be no part of it. The text says
	// what differs.
	ErrMismatch = errors.New("singleton: the name belongs to another singleton")
	// ErrManagerStopped: the manager of this node ended with the message in its buffer.
	ErrManagerStopped = errors.New("singleton: the node's manager has stopped")
	// ErrFinished: the singleton has ended for good, see [Finished].
	ErrFinished = errors.New("singleton: it has finished, and does not start again")
	// ErrLeaseLost: the node of the instance has lost its lease, so the instance must not
	// handle anything any more.
	ErrLeaseLost = errors.New("singleton: the lease was lost")
	// ErrTooMany: the node has [MaxPerNode] singletons. It is what the manager of one more
	// fails with when it starts; no other singleton is touched.
	ErrTooMany = fmt.Errorf("singleton: the node has as many as it may have, %d; let fewer singletons look after several things each", MaxPerNode)
	// ErrGivenUp: with [AtLeastOnce], instances have failed at the message again and again.
	// The failure of the last is wrapped beside it.
	ErrGivenUp = errors.New("singleton: message given up, as 10 instances have failed at it")
)

// ErrFenced is what an instance fails with, by actor.Context.Fail, when something outside
// has refused its [Generation]: a newer instance has been there. It is stopped then, and
// its node asks for permission again before it starts another. It is the error that
// event-sourced instances fail with, persistence.ErrFenced.
var ErrFenced = fence.ErrFenced

func init() {
	for name, err := range map[string]error{
		"understudy/singleton.unavailable":     ErrUnavailable,
		"understudy/singleton.buffer-full":     ErrBufferFull,
		"understudy/singleton.held-too-long":   ErrHeldTooLong,
		"understudy/singleton.mismatch":        ErrMismatch,
		"understudy/singleton.manager-stopped": ErrManagerStopped,
		"understudy/singleton.finished":        ErrFinished,
		"understudy/singleton.lease-lost":      ErrLeaseLost,
		"understudy/singleton.too-many":        ErrTooMany,
		"understudy/singleton.given-up":        ErrGivenUp,
		"understudy/fenced":                    ErrFenced,
	} {
		actor.RegisterError(name, err)
	}
}
