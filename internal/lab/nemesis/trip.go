//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
)

const (
	// tripType is the type of runs of workflows.
	tripType = "trip"

	// callName is the name of the signals that trips await.
	callName = "call"
)

// A Trip is the input of a run. Each stage has bookings, which are steps; all of them are undone if
// the trip fails in the end, or is cancelled.
type Trip struct {
	Stages []Stage
	Fails  bool
}

// A Stage is a part of a trip.
type Stage struct {
	Naps []time.Duration // of each booking: how long the run sleeps before. Several are at the same time.
	Call time.Duration   // how long the run awaits a call afterwards; 0 for none
}

// A Booking is the result of a step.
type Booking struct {
	Step   string // its full name
	Effect int    // its number outside
	By     string // the execution that has got the answer
}

// A Bill is the result of a trip: its bookings, and what calls have said, or "" for one that did
// not come in time.
type Bill struct {
	Bookings []Booking
	Calls    []string
}

// errTurnedBack is the error of a trip that fails.
var errTurnedBack = errors.New("nemesis: turned back")

func init() {
	actor.RegisterType[Trip]("nemesis.trip")
	actor.RegisterType[Booking]("nemesis.booking")
	actor.RegisterType[Bill]("nemesis.bill")
	actor.RegisterError("nemesis.turned-back", errTurnedBack)
}

// startTrips lets a node host trips, whose bookings are made by a clerk.
func startTrips(node *cluster.Node, c *clerk) (*workflow.Type[Trip, Bill], error) {
	return workflow.Start(node, tripType, c.travel)
}

// travel is the function of the runs.
func (c *clerk) travel(w *workflow.Run, t Trip) (bill Bill, err error) {
	for i, s := range t.Stages {
		if err := c.stage(w, i, s, &bill); err != nil {
			return Bill{}, err
		}
	}
	if t.Fails {
		return Bill{}, errTurnedBack
	}
	return bill, nil
}

func (c *clerk) stage(w *workflow.Run, number int, s Stage, bill *Bill) (err error) {
	booked := make([]Booking, len(s.Naps))
	if len(s.Naps) == 1 {
		booked[0], err = c.book(w, number, s.Naps[0])
	} else {
		var parts []workflow.Part
		for i, nap := range s.Naps {
			parts = append(parts, func(part *workflow.Run) (err error) {
				booked[i], err = c.book(part, number, nap)
				return err
			})
		}
		err = workflow.Branch(w, fmt.Sprintf("stage %d", number), parts...)
	}
	bill.Bookings = append(bill.Bookings, booked...)
	if err != nil || s.Call == 0 {
		return err
	}
	said, err := workflow.Await[string](w, callName, s.Call)
	if errors.Is(err, workflow.ErrTimedOut) {
		err = nil
	}
	bill.Calls = append(bill.Calls, said)
	return err
}

// again is the pause after an attempt that has failed.
var again = actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}

// book sleeps and makes a booking. Its compensation is stored before the sleep ends, so that no
// process can make a booking that a later one does not undo.
func (c *clerk) book(w *workflow.Run, number int, nap time.Duration) (Booking, error) {
	id := w.ID()
	w.Compensate(fmt.Sprintf("unbook %d", number), func(ctx context.Context) error {
		_, err := c.call(ctx, id, 1)
		return err
	})
	if err := workflow.Sleep(w, nap); err != nil {
		return Booking{}, err
	}
	requests, opts := 1, []workflow.StepOption{workflow.Retry(0, again)}
	if number%2 == 1 {
		requests, opts = 50, nil // without attempts after it, an error is an outcome
	}
	b, err := workflow.Step(w, fmt.Sprintf("book %d", number), func(ctx context.Context) (Booking, error) {
		return c.call(ctx, id, requests)
	}, opts...)
	if err == nil {
		c.diary.told(id, b)
	}
	return b, err
}

// drawTrip draws the input of a run. It takes about 20 s.
func drawTrip() (t Trip) {
	for range 1 + rand.IntN(4) {
		var s Stage
		for range 1 + rand.IntN(5)/3*(1+rand.IntN(2)) { // of five stages, two have parts
			var nap time.Duration
			if rand.IntN(3) == 0 {
				nap = time.Duration(rand.IntN(12_000)) * time.Millisecond
			}
			s.Naps = append(s.Naps, nap)
		}
		if rand.IntN(3) == 0 {
			s.Call = time.Second + time.Duration(rand.IntN(11_000))*time.Millisecond
		}
		t.Stages = append(t.Stages, s)
	}
	t.Fails = rand.IntN(6) == 0
	return t
}
