//go:build linux

package main

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// registrarsPerNode is how many clients of the registers ask each node.
const registrarsPerNode = 2

// A registrar operates on registers, one operation after the other, through one node. It does not
// repeat an operation without an answer.
type registrar struct {
	dir, node string
	pool      *pool
	clients   *atomic.Int64 // there have been so many
	recorder  *recorder
}

// run operates until ctx ends. After an operation without an answer it continues as another client,
// because that operation may still be in progress.
func (r *registrar) run(ctx context.Context) {
	for ctx.Err() == nil {
		client := int(r.clients.Add(1)) - 1
		for ctx.Err() == nil && r.operate(client) {
			_ = sleep(ctx, pace)
		}
		_ = sleep(ctx, pace)
	}
}

// operate reports whether the operation is over.
func (r *registrar) operate(client int) bool {
	o := Operation{Op: r.pool.draw(), Client: client, Invoked: clock()}
	reply, err := ask(r.dir, r.node, Request{Operate: &o.Op})
	if unsent(err) {
		return true
	}
	if err == nil && reply.Error == "" && reply.Answer != nil {
		o.Returned, o.Answer = clock(), *reply.Answer
	}
	r.recorder.operated(o)
	r.pool.learn(o)
	return o.answered()
}

// unsent reports whether a request failed before any node can have received it.
func unsent(err error) bool {
	failed := (*net.OpError)(nil)
	return errors.As(err, &failed) && failed.Op == "dial"
}
