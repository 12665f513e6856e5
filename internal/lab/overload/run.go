// Package overload compares what an actor may do with requests while it gets more than it can
// answer, in virtual time. The figures are in docs/overload.md.
package overload

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// The load: an actor that needs typical for a request, on average; asks with a deadline; and
// replies that take wayBack. In the first and last seconds it gets a third of what it can answer.
const (
	typical  = 4 * time.Millisecond
	deadline = time.Second
	wayBack  = 5 * time.Millisecond
	begins   = 2 * time.Second
	ends     = 12 * time.Second
	lasts    = 20 * time.Second
)

// A request says when its ask ends, for the policies that are no part of the runtime.
type request struct {
	number  int
	until   time.Time
	replyTo actor.ActorRef[int]
}

// A policy is what the actor does with requests.
type policy struct {
	name    string
	options []actor.SpawnOption
	drops   bool // what has ended
	asks    bool // with a deadline that the runtime knows
}

var policies = []policy{
	{name: "no deadlines"},
	{name: "deadlines only", drops: true},
	{name: "newest first", drops: true, options: []actor.SpawnOption{actor.Prioritized(func(r request) int { return -r.number })}},
	{name: "controlled delay", asks: true},
}

// An outcome is what became of the asks, by the second in which they were sent.
type outcome struct {
	policy   policy
	times    int
	answered [lasts / time.Second]int // in time, by the second of the answer
	waited   []time.Duration          // of those that were answered while the load was high
	first    time.Duration            // from the end of the high load to the first answer to an ask that was sent afterwards
}

// run asks an actor with a policy, at some times the rate that it can answer.
func run(s *actor.System, p policy, times int) outcome {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	to := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[request], r request) actor.Behavior[request] {
		if p.drops && !time.Now().Before(r.until) {
			return behaviors.Same
		}
		time.Sleep(time.Duration(random.ExpFloat64() * float64(typical)))
		r.replyTo.TellAfter(wayBack, r.number)
		return behaviors.Same
	}), "desk", p.options...)
	o := outcome{policy: p, times: times}
	var mu sync.Mutex
	var all sync.WaitGroup
	begun := time.Now()
	arrivals := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // likewise
	for n := 0; time.Since(begun) < lasts; n++ {
		at := time.Since(begun)
		all.Go(func() {
			waited, err := ask(to, p, n)
			mu.Lock()
			defer mu.Unlock()
			o.note(at, waited, err)
		})
		time.Sleep(time.Duration(arrivals.ExpFloat64() * float64(gap(at, times))))
	}
	all.Wait()
	return o
}

// gap returns the time between two asks, on average.
func gap(at time.Duration, times int) time.Duration {
	if at >= begins && at < ends {
		return typical / time.Duration(times)
	}
	return 3 * typical
}

func ask(to actor.ActorRef[request], p policy, n int) (waited time.Duration, err error) {
	begun := time.Now()
	build := func(r actor.ActorRef[int]) request { return request{n, begun.Add(deadline), r} }
	if p.asks {
		_, err = actor.AskTimeout(context.Background(), to, deadline, build)
		return time.Since(begun), err
	}
	answered := make(chan error, 1)
	go func() { // whose request has no deadline that the runtime knows
		_, err := actor.Ask(context.Background(), to, build)
		answered <- err
	}()
	select {
	case err = <-answered:
	case <-time.After(deadline):
		err = context.DeadlineExceeded
	}
	return time.Since(begun), err
}

func (o *outcome) note(at, waited time.Duration, err error) {
	if err != nil {
		return
	}
	if second := (at + waited) / time.Second; int(second) < len(o.answered) {
		o.answered[second]++
	}
	switch {
	case at >= begins && at < ends:
		o.waited = append(o.waited, waited)
	case at >= ends && (o.first == 0 || at+waited-ends < o.first):
		o.first = at + waited - ends
	}
}

// A summary is the row of a table.
type summary struct {
	share    float64 // of what could be answered while the load was high
	p50, p99 time.Duration
	first    time.Duration
}

func (o *outcome) summary() summary {
	slices.Sort(o.waited)
	at := func(q float64) time.Duration {
		if len(o.waited) == 0 {
			return 0
		}
		return o.waited[int(q*float64(len(o.waited)-1))].Round(time.Millisecond)
	}
	return summary{float64(len(o.waited)) / float64((ends-begins)/typical), at(0.5), at(0.99), o.first.Round(time.Millisecond)}
}
