//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// travellersPerNode is how many clients of runs of workflows ask each node. Each has one run at
	// a time.
	travellersPerNode = 4

	// tripPatience is how long a node waits for an answer of a run.
	tripPatience = 2 * time.Second

	// tripPace is how long a traveller rests after a request without an answer, and after a run.
	tripPace = 500 * time.Millisecond

	// following is how long a traveller waits for the end of a run.
	following = 40 * time.Second
)

// travels are the runs of workflows and their clients.
type travels struct {
	dir      string   // of the sockets
	nodes    []string // to which requests without an answer are sent again
	most     int      // runs
	begun    atomic.Int64
	recorder *recorder
}

// A traveller begins runs through one node, calls them, cancels some, and asks for their results.
type traveller struct {
	*travels

	node string
}

func (t *traveller) run(ctx context.Context) {
	for ctx.Err() == nil {
		n := t.begun.Add(1)
		if n > int64(t.most) {
			return
		}
		j := Journey{ID: fmt.Sprintf("t%d", n), Trip: drawTrip()}
		t.travel(ctx, &j)
		t.recorder.travelled(j)
		_ = sleep(ctx, tripPace)
	}
}

// travel begins one run and follows it to its end, or as long as it takes until the traveller gives
// up.
func (t *traveller) travel(ctx context.Context, j *Journey) {
	_, j.Begun = t.repeat(ctx, endurance, func() TripRequest { return TripRequest{ID: j.ID, Begin: &j.Trip} })
	if !j.Begun {
		return
	}
	from := clock()
	for _, e := range t.errands(j) {
		if sleep(ctx, from+e.at-clock()) != nil {
			return
		}
		e.do(ctx)
	}
	if rand.IntN(2) == 0 { // nobody waits, so that the run leaves memory
		_ = sleep(ctx, from+following/2-clock())
	}
	if said, ok := t.repeat(ctx, following, func() TripRequest { return TripRequest{ID: j.ID} }); ok {
		j.end(said)
	}
}

// A tripErrand is something that a traveller does at a time after the begin of the run.
type tripErrand struct {
	at time.Duration
	do func(context.Context)
}

// errands draws the calls of a run, at times before it awaits them, and at times its cancellation.
func (t *traveller) errands(j *Journey) (all []tripErrand) {
	within := func(most time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(most))) }
	for _, s := range j.Trip.Stages {
		if s.Call > 0 {
			all = append(all, tripErrand{within(12 * time.Second), func(ctx context.Context) { t.callTrip(ctx, j) }})
		}
	}
	if rand.IntN(4) == 0 {
		all = append(all, tripErrand{within(15 * time.Second), func(ctx context.Context) { t.cancelTrip(ctx, j) }})
	}
	slices.SortFunc(all, func(a, b tripErrand) int { return cmp.Compare(a.at, b.at) })
	return all
}

// callTrip sends a call until one is acknowledged. Each attempt has another text.
func (t *traveller) callTrip(ctx context.Context, j *Journey) {
	said, ok := t.repeat(ctx, endurance, func() TripRequest {
		s := Sent{Text: fmt.Sprintf("%s call %d", j.ID, len(j.Calls)+1), Invoked: clock()}
		j.Calls = append(j.Calls, s)
		return TripRequest{ID: j.ID, Call: s.Text}
	})
	if ok && said.State == "" {
		j.Calls[len(j.Calls)-1].Returned = clock()
	}
	j.hear(said)
}

func (t *traveller) cancelTrip(ctx context.Context, j *Journey) {
	j.Cancelling = true
	said, ok := t.repeat(ctx, endurance, func() TripRequest { return TripRequest{ID: j.ID, Cancel: true} })
	j.Cancelled = ok && said.State == ""
	j.hear(said)
}

// repeat sends a request until it is answered, at first through the node of the traveller, and then
// through any. ok is false if there was no answer within a limit.
func (t *traveller) repeat(ctx context.Context, limit time.Duration, request func() TripRequest) (said TripReply, ok bool) {
	node := t.node
	for from := clock(); ctx.Err() == nil && clock() < from+limit; node = t.nodes[rand.IntN(len(t.nodes))] {
		if said, ok := t.ask(node, request()); ok {
			return said, true
		}
		_ = sleep(ctx, tripPace)
	}
	return TripReply{}, false
}

// ask sends a request to a node. ok is false without an answer: the outcome is unknown.
func (t *travels) ask(node string, r TripRequest) (said TripReply, ok bool) {
	r.Patience = tripPatience
	reply, err := askWithin(t.dir, node, Request{Trip: &r}, tripPatience)
	if err != nil || reply.Error != "" || reply.Trip == nil {
		return TripReply{}, false
	}
	return *reply.Trip, true
}

// endAll asks each run for its result until it answers, through all nodes in turn, and notes that.
// It returns the ids of the runs that have not answered within a limit, and how long the slowest
// took. Runs whose begin was not acknowledged may answer that they are not there.
func (t *travels) endAll(all []Journey, limit time.Duration) (silent []string, slowest time.Duration) {
	var mu sync.Mutex // guards silent and slowest
	var next atomic.Int64
	var asking sync.WaitGroup
	for range readersAtOnce {
		asking.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(all); n = int(next.Add(1)) - 1 {
				took, ok := t.end(&all[n], t.nodes[n%len(t.nodes)], limit)
				mu.Lock()
				slowest = max(slowest, took)
				if !ok {
					silent = append(silent, all[n].ID)
				}
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return silent, slowest
}

func (t *travels) end(j *Journey, node string, limit time.Duration) (took time.Duration, ok bool) {
	from := clock()
	for clock() < from+limit {
		if said, answered := t.ask(node, TripRequest{ID: j.ID}); answered {
			j.end(said)
			return clock() - from, true
		}
	}
	return clock() - from, false
}
