package singleton

import "errors"

// Why messages to a singleton become dead letters. Compare with [errors.Is].
var (
	// ErrBufferFull: there was no instance, and the node's buffer had no room left.
	ErrBufferFull = errors.New("singleton: no instance, and the buffer is full")
	// ErrManagerStopped: the manager of this node ended with the message in its buffer.
	ErrManagerStopped = errors.New("singleton: the node's manager has stopped")
	// ErrFinished: the singleton has ended for good, see [Finished].
	ErrFinished = errors.New("singleton: it has finished, and does not start again")
	// ErrLeaseLost: the node of the instance has lost its lease, so the instance must not
	// handle anything any more.
	ErrLeaseLost = errors.New("singleton: the lease was lost")
)
