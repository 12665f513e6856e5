package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Outcomes of a drain.
const (
	Begun     = "begun"     // the caller does not wait for the end
	Left      = "left"      // the node has left, and its program still answers
	Ended     = "ended"     // the program does not answer any more
	Restarted = "restarted" // another incarnation answers
)

// A Drain is the end of a node.
type Drain struct {
	Node    string  `json:"node"`
	Outcome string  `json:"outcome" jsonschema:"begun, left (the program still runs), ended (the program does not answer any more) or restarted"`
	Seconds float64 `json:"seconds" jsonschema:"how long it has taken"`
}

const look = 200 * time.Millisecond

// ErrSeveral means that it is not clear which node is meant.
var ErrSeveral = errors.New("several URLs")

var errWhichLeaves = fmt.Errorf("%w: name the one node that is to leave", ErrSeveral)

// Drain makes the node leave. If it is to wait, it returns when the node has left, and calls
// progress with each snapshot meanwhile. If ctx ends before, the node goes on leaving.
func (c *Client) Drain(ctx context.Context, wait bool, progress func(status.Snapshot)) (Drain, error) {
	if !c.Single() {
		return Drain{}, errWhichLeaves
	}
	first, err := c.Status(ctx)
	if err != nil {
		return Drain{}, err
	}
	if !first.Actions {
		return Drain{}, status.ErrNoActions
	}
	began := time.Now()
	done := Drain{Node: first.Self.Name, Outcome: Begun}
	if first.Ended() {
		done.Outcome = Left
		return done, nil
	}
	if err := c.Leave(ctx); err != nil || !wait {
		return done, err
	}
	for {
		s, err := c.Status(ctx)
		if done.Outcome = outcome(ctx, first, s, err); done.Outcome != Begun {
			done.Seconds = time.Since(began).Seconds()
			return done, nil
		}
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		switch {
		case err == nil:
			progress(s)
		case !errors.Is(err, context.DeadlineExceeded): // the node may only be slow
			return done, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(look):
		}
	}
}

// The node answers a request with s or err.
func outcome(ctx context.Context, first, s status.Snapshot, err error) string {
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return Begun
	case errors.Is(err, ErrSilent):
		return Ended
	case err != nil:
		return Begun
	case s.Ended():
		return Left
	case s.Self.ID != first.Self.ID:
		return Restarted
	}
	return Begun
}
