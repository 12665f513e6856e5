package singleton

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// The reasons why messages to a singleton become dead letters, and other errors. Compare them with
// [errors.Is].
var (
	// ErrUnavailable: this node knows of no instance that it can reach, or the node that has got
	// the message was started again and has no manager; the text says why. Ask again if the error
	// of the ask wraps [actor.ErrWithdrawn]; otherwise the request may have been handled.
	//
	// ErrBufferFull and ErrHeldTooLong wrap it as well.
	ErrUnavailable = singletons.ErrUnavailable
	// ErrBufferFull: there was no instance, and the node's buffer was full; see [Buffer]. The
	// oldest message is dropped. Ask "understudy why NAME" why there is no instance.
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrUnavailable)
	// ErrHeldTooLong: there was no instance for longer than [Expire] allows. Ask "understudy why
	// NAME" for the cause, and choose a time that is longer than a failover.
	ErrHeldTooLong = fmt.Errorf("%w, and the message has waited for longer than Expire allows", ErrUnavailable)
	// ErrMismatch: the singleton on this node has another message type or other settings than on
	// the other nodes, so it takes no part. Spawn it in the same way on every node.
	ErrMismatch = errors.New("singleton: the name belongs to another singleton")
	// ErrManagerStopped: the manager of this node ended with the message in its buffer, as when a
	// node leaves while there is no instance. Send it again from another node.
	ErrManagerStopped = errors.New("singleton: the node's manager has stopped")
	// ErrFinished: the singleton has ended for good in this cluster, see [Finish]. Use another name
	// for the next task.
	ErrFinished = errors.New("singleton: it has finished, and does not start again")
	// ErrLeaseLost: the node of the instance has lost its lease, so the instance must not handle
	// another message: the store was away, or another owner took the lease. The node tries to get
	// it again.
	ErrLeaseLost = handover.ErrLeaseLost
	// ErrTooMany: the node has [MaxPerNode] singletons, and the manager of one more fails; no other
	// is affected. Use entities of package sharding for many ids.
	ErrTooMany = fmt.Errorf("singleton: the node has the maximum number of singletons, %d; let fewer singletons look after several things each", MaxPerNode)
	// ErrGivenUp: with [AtLeastOnce], as many instances as [Attempts] says have failed at the
	// message, or its events can never be stored. It wraps the last failure as well. Repair the
	// handler, and send the message again with [Resend].
	//
	// An [actor.Ask] that sent the message returns it.
	ErrGivenUp = errors.New("singleton: message given up, as instances have failed at it")
	// ErrNotKept: the node keeps no message with the number of a [Resend] or [Discard]. Take the
	// numbers from [ListGivenUp] on the same node.
	ErrNotKept = errors.New("singleton: no message that was given up is kept here under the number")
	// ErrFenced: something outside has refused the [Generation] of an instance, because
	// a newer one has written there. Let the instance fail with it, by actor.Context.Fail. If it
	// repeats, look for a second cluster with the same store.
	//
	// The instance is then stopped, and its node asks for permission before it starts another.
	// Event-sourced instances fail with it by themselves. It is the same error as
	// persistence.ErrFenced.
	ErrFenced = tenure.ErrFenced
)

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
		"understudy/singleton.not-kept":        ErrNotKept,
		"understudy/fenced":                    ErrFenced,
	} {
		actor.RegisterError(name, err)
	}
}
