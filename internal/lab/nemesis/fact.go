//go:build linux

package main

import (
	"context"
	"fmt"
	"math"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

// The kinds of facts that the checks need.
const (
	factBegun     = "begun"
	factFinished  = "finished"
	factFailed    = "failed"  // an attempt, and another follows
	factWaiting   = "waiting" // a sleep or an await has begun
	factSignalled = "signalled"
	factTurned    = "turned"
	factHeld      = "held"
	factEnded     = "ended"
)

// A Fact is an event of a run as it is in the journal.
type Fact struct {
	What   string
	Name   string   // of the step or the await
	Number uint64   // of the call that an await has got
	State  string   // in which the run ends, or will end
	Undo   []string // compensations that the function has registered before
	Why    string   // the run is held

	Seq, Epoch uint64  // of the record
	Booking    Booking // of a step that has succeeded
	Bill       Bill    // of a run that is done
	Text       string  // of a call
	Error      string  // the outcome; "" if it is a success
}

// A storedEvent is what package workflow stores, with the names of its fields.
type storedEvent struct {
	What   string
	Name   string
	Value  storedValue
	Err    string
	Number uint64
	State  string
	Undo   []string
}

type storedValue struct {
	_    struct{} `cbor:",toarray"`
	Type string
	Data []byte
}

// readFacts returns the events of a run.
func readFacts(ctx context.Context, j journal.Journal, id string) (facts []Fact, err error) {
	for r, err := range j.Read(ctx, tripType+"|"+id, 1, math.MaxInt64) {
		if err != nil {
			return nil, err
		}
		f, err := factOf(r)
		if err != nil {
			return nil, fmt.Errorf("record %d of run %s: %w", r.Seq, id, err)
		}
		facts = append(facts, f)
	}
	return facts, nil
}

func factOf(r journal.Record) (f Fact, err error) {
	var e storedEvent
	if err := codec.Unmarshal(r.Payload, &e); err != nil {
		return f, err
	}
	f = Fact{What: e.What, Name: e.Name, Number: e.Number, State: e.State, Undo: e.Undo, Why: e.Err, Seq: r.Seq, Epoch: r.Epoch}
	switch {
	case len(e.Value.Data) == 0:
	case e.Value.Type == "nemesis.booking":
		f.Booking, f.Error, err = opened[Booking](e.Value)
	case e.Value.Type == "nemesis.bill":
		f.Bill, f.Error, err = opened[Bill](e.Value)
	case e.Value.Type == "string":
		f.Text, f.Error, err = opened[string](e.Value)
	case e.Value.Type == "": // an error, or no result
		_, f.Error, err = opened[*struct{}](e.Value)
	}
	return f, err
}

func opened[T any](v storedValue) (value T, failure string, err error) {
	var r actor.Result[T]
	err = r.UnmarshalCBOR(v.Data)
	if r.Err != nil {
		failure = r.Err.Error()
	}
	return r.Value, failure, err
}
