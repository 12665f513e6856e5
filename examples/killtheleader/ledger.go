package main

import (
	"context"
	"errors"
)

// A ledger issues numbers on one node: 1, 2, 3 and so on, each to one request.
type ledger interface {
	// next stores the next number with a request, and returns it when it is committed. It returns
	// errNotLeader if it has stored nothing because another node leads. After any other error the
	// number may be stored or not.
	next(ctx context.Context, request string) (issued, error)

	// ready reports whether the node can take over from a leader.
	ready() bool

	// leave ends the part of this node in good order, before the process ends.
	leave(ctx context.Context) error
}

// errNotLeader says that a ledger has stored nothing. The client may ask another node.
var errNotLeader = errors.New("this node does not lead")

// issued is a number, and the leadership that has stored it.
type issued struct {
	Number int64  `json:"number"`
	Leader string `json:"leader"`
}

// leaderName names one leadership: a node, and which of its leaderships. The name of a node has no
// space.
func leaderName(node, term string) string { return node + " " + term }
