package sharding

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/shardtree"
)

// The reasons for which messages to entities become dead letters. Compare with [errors.Is].
var (
	// ErrBufferFull: the shard is on no node or moves, or its entity starts, and too many messages
	// wait for it. "understudy why" says where it is. Raise [Buffer] for short peaks; at
	// most 100,000 messages wait on a node for one type.
	ErrBufferFull = errors.New("sharding: the buffer of the shard is full")

	// ErrUnavailable: the shard of the entity is on no node that can be reached, or moves, or its
	// node was started again and has not started the type yet; the text says why. Ask again if the
	// error of the ask wraps actor.ErrWithdrawn; otherwise the request may have been handled.
	ErrUnavailable = shardtree.ErrUnavailable

	// ErrMismatch: the type has another message type on this node than in the cluster, or other
	// [Shards], [Role] or [Remember]. Start it with the same settings on every node; Shards can
	// never change.
	ErrMismatch = errors.New("sharding: the type differs from the cluster's")

	// ErrNoDaemon: there are fewer daemons than the index in the ref, see [Daemon]. Use a lower
	// index, or scale up.
	ErrNoDaemon = errors.New("sharding: there is no daemon of that index")

	// ErrStopped: the node stopped while the message waited, or before a type was started. Send
	// from another node, or ask again.
	ErrStopped = errors.New("sharding: the node has stopped")

	// ErrEntityFailed: the entity failed while the message waited for it, or could not be started.
	// It wraps the failure, often an unavailable journal or an event that cannot be replayed.
	ErrEntityFailed = errors.New("sharding: the entity has failed")
)

func init() {
	actor.RegisterError("understudy/sharding.buffer-full", ErrBufferFull)
	actor.RegisterError("understudy/sharding.mismatch", ErrMismatch)
	actor.RegisterError("understudy/sharding.no-daemon", ErrNoDaemon)
	actor.RegisterError("understudy/sharding.stopped", ErrStopped)
	actor.RegisterError("understudy/sharding.entity-failed", ErrEntityFailed)
}
