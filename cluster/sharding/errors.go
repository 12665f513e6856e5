package sharding

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
)

// ErrNoJournal is returned by [Region.Pin], [Region.Unpin] and [Daemons.Scale] without
// [WithJournal]: the next coordinator would forget the request.
var ErrNoJournal = errors.New("sharding: the coordinator has no journal that keeps this; use WithJournal for all types")

// The reasons for which messages to entities become dead letters. Compare with [errors.Is].
var (
	// ErrBufferFull: the shard is on no node or moves, and too many messages wait for it.
	ErrBufferFull = errors.New("sharding: the buffer of the shard is full")

	// ErrUnavailable: the shard of the entity is on no node that can be reached, or moves. It says
	// which and why. It is the reason of an ask that ends meanwhile by its context or timeout.
	ErrUnavailable = errors.New("sharding: the entity cannot be reached")

	// ErrMismatch: the type has other settings on this node than in the cluster: another message
	// type, or other [Shards], [Role] or [Remember]. It wraps what differs.
	ErrMismatch = errors.New("sharding: the type differs from the cluster's")

	// ErrNoDaemon: there are fewer daemons than the index in the ref, see [Daemon].
	ErrNoDaemon = errors.New("sharding: there is no daemon of that index")

	// ErrStopped: the node stopped while the message waited.
	ErrStopped = errors.New("sharding: the node has stopped")

	// ErrEntityFailed: the entity failed while the message waited for it, or could not be started.
	// It wraps the failure.
	ErrEntityFailed = errors.New("sharding: the entity has failed")
)

func init() {
	actor.RegisterError("understudy/sharding.buffer-full", ErrBufferFull)
	actor.RegisterError("understudy/sharding.unavailable", ErrUnavailable)
	actor.RegisterError("understudy/sharding.mismatch", ErrMismatch)
	actor.RegisterError("understudy/sharding.no-daemon", ErrNoDaemon)
	actor.RegisterError("understudy/sharding.stopped", ErrStopped)
	actor.RegisterError("understudy/sharding.entity-failed", ErrEntityFailed)
}
