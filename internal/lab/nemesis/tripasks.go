//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow"
)

// A TripRequest asks a node for something about a run: to begin it, to call it, to cancel it, or
// for its result if none of these is set.
type TripRequest struct {
	ID       string
	Begin    *Trip         `json:",omitempty"`
	Call     string        `json:",omitempty"`
	Cancel   bool          `json:",omitempty"`
	Patience time.Duration // how long the node waits for the answer
}

// The ends of a run, and why a request was not executed.
const (
	tripDone      = "done"
	tripFailed    = "failed"
	tripCancelled = "cancelled"
	tripEnded     = "ended" // before the request
	tripNotFound  = "not found"
)

// A TripReply answers a TripRequest. State is "" if that was executed.
type TripReply struct {
	State string
	Bill  Bill
}

// askTrip executes a request. An error says that the outcome is unknown.
func askTrip(ctx context.Context, trips *workflow.Type[Trip, Bill], r TripRequest) (reply TripReply, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	switch {
	case r.Begin != nil:
		_, err = trips.Run(ctx, r.ID, *r.Begin)
	case r.Call != "":
		err = workflow.Signal(ctx, trips, r.ID, callName, r.Call)
	case r.Cancel:
		err = trips.Cancel(ctx, r.ID, workflow.By{Who: "a traveller"})
	default:
		reply.State = tripDone
		reply.Bill, err = trips.Handle(r.ID).Result(ctx)
	}
	for said, state := range map[error]string{
		errTurnedBack: tripFailed, workflow.ErrCancelled: tripCancelled, workflow.ErrEnded: tripEnded, workflow.ErrNotFound: tripNotFound,
	} {
		if errors.Is(err, said) {
			return TripReply{State: state}, nil
		}
	}
	return reply, err
}
