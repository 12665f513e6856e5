package clustertest

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/extension"
)

const (
	checkEvery   = 250 * time.Millisecond
	failedInTest = "the test's own checks" // the name of what fails by testing.TB
)

// A Round is one run of a [Chaos]: a cluster, and a testing.TB, so that testkit and require work
// as in any test. A failure ends the round.
type Round struct {
	testing.TB
	*Cluster

	chaos      Chaos
	invariants []Invariant
	eachNode   []func(*cluster.Node)
	violation  *violation

	active   map[int]Fault  // by number
	mends    map[int]func() // of the cuts among them
	absent   map[string]int // nodes that have been ended, and by which fault
	tries    map[string]*try
	leaving  map[string]chan struct{}
	arrivals chan *try
	tasks    sync.WaitGroup

	begun    chan struct{} // closed when faults may begin while story runs
	mayBegin func()

	sentBefore uint64         // by nodes that do not run any more
	sentAt     map[int]uint64 // how many messages there were when a fault began, by number
	met        bool           // some fault met a message

	changed time.Time // when a fault last began or ended, or a node came up
	whole   int       // how many nodes were one cluster before that; 0 if they were not
}

type try struct {
	name   string
	node   *cluster.Node
	err    error
	cancel context.CancelFunc
}

type violation struct {
	name string
	err  error
	log  []string
}

// EachNode calls f with every running node, and with every node that starts later, once it is up.
// Use it to spawn the actors that every node has.
func (r *Round) EachNode(f func(n *cluster.Node)) {
	r.eachNode = append(r.eachNode, f)
	for _, n := range r.Nodes() {
		f(n)
	}
}

// Check adds invariants to the round.
func (r *Round) Check(invariants ...Invariant) { r.invariants = append(r.invariants, invariants...) }

// Always adds an invariant that must hold at all times. It is checked four times a second.
func (r *Round) Always(name string, holds func() error) {
	r.Check(Invariant{Name: name, Always: func(*Round) error { return holds() }})
}

// Finally adds an invariant that must hold in the end, when all faults are over and the nodes are
// one cluster again.
func (r *Round) Finally(name string, holds func() error) {
	r.Check(Invariant{Name: name, Finally: func(*Round) error { return holds() }})
}

// Calm returns the time since a fault began or ended, or a node came up.
func (r *Round) Calm() time.Duration { return time.Since(r.changed) }

// Afflicted reports whether a fault of that kind is active.
func (r *Round) Afflicted(kind Kind) bool {
	for _, f := range r.active {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// Begin starts the faults now, while story continues. Without it they start when story returns.
// Story must end within [Chaos.Settle] after the nodes are one cluster again. Further calls do
// nothing.
func (r *Round) Begin() { r.mayBegin() }

// Story has ended when over is closed.
func (r *Round) tell(story func(*Round)) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		story(r)
	}()
	select {
	case <-done:
	case <-r.begun:
	}
	r.endIfFailed()
	return done
}

func (r *Round) awaitStory(over <-chan struct{}) {
	limit := time.After(r.chaos.Settle)
	for {
		select {
		case <-over:
			r.endIfFailed()
			return
		case <-limit:
			r.expect("the story ends", fmt.Errorf("it did not within %v after the last fault", r.chaos.Settle))
		case t := <-r.arrivals:
			r.arrive(t)
		}
	}
}

func (r *Round) endIfFailed() {
	if r.Failed() {
		runtime.Goexit()
	}
}

// run goes to the end or to the first violation.
func (r *Round) run(s Schedule, story func(*Round)) {
	for _, name := range r.chaos.names() {
		r.start(name, nil)
	}
	r.AwaitQuiet()
	told := r.tell(story)
	r.AwaitQuiet()
	r.changed = time.Now()
	r.runFaults(s)
	r.settle()
	r.awaitStory(told)
	for _, i := range r.invariants {
		if i.Finally != nil {
			r.expect(i.Name, i.Finally(r))
		}
	}
	r.expectMet(s)
}

const vacuous = "some fault meets a message"

func (r *Round) expectMet(s Schedule) {
	if len(s) > 0 && !r.met && !r.chaos.MembershipOnly {
		r.expect(vacuous, fmt.Errorf("the run is vacuous: during none of its %d faults did a node tell another one anything. "+
			"Have actors work while faults go on: by an invariant of Round.Always, by goroutines, or in the story after Round.Begin. "+
			"When the story is about membership alone, set Chaos.MembershipOnly", len(s)))
	}
}

func (r *Round) expect(name string, err error) {
	if err != nil {
		r.violation = &violation{name: name, err: err}
		runtime.Goexit()
	}
}

func (r *Round) check() {
	for _, i := range r.invariants {
		if i.Always != nil {
			r.expect(i.Name, i.Always(r))
		}
	}
}

// until checks the invariants meanwhile.
func (r *Round) until(at time.Time) {
	for {
		rest := time.Until(at)
		if rest <= 0 {
			return
		}
		select {
		case t := <-r.arrivals:
			r.arrive(t)
		case <-time.After(min(rest, checkEvery)):
			r.check()
		}
	}
}

func (r *Round) settle() {
	var last string
	deadline := time.Now().Add(r.chaos.Settle)
	for quiet := 0; quiet < quietFor; {
		r.until(time.Now().Add(quietStep))
		state, settled := r.state()
		if settled && state == last && r.size() == r.chaos.Nodes {
			quiet++
		} else {
			quiet = 0
		}
		last = state
		if time.Now().After(deadline) {
			r.expect(r.unsettledAs(), fmt.Errorf("not so %v after the last fault:\n%s", r.chaos.Settle, r.describe()))
		}
	}
}

func (r *Round) unsettledAs() string {
	if r.size() < r.chaos.Nodes {
		return "every node is up after healing"
	}
	for _, n := range r.Nodes() {
		if _, whole := describe(n.View(), r.chaos.Nodes); !whole {
			return "one cluster after healing"
		}
		if len(unsettled(n)) > 0 {
			return "singletons come to rest after healing"
		}
	}
	return "all views are equal after healing"
}

func (r *Round) describe() string {
	var b strings.Builder
	for _, n := range r.Nodes() {
		view, _ := describe(n.View(), r.chaos.Nodes)
		fmt.Fprintf(&b, "%s sees: %s%s\n", n.View().Self.Name, view, strings.Join(unsettled(n), ""))
	}
	for name, t := range r.tries {
		if t.node == nil {
			fmt.Fprintf(&b, "%s is starting\n", name)
		}
	}
	return b.String()
}

// begin waits for the end of the node's predecessor, but not for the node.
func (r *Round) begin(name string) {
	ctx, cancel := context.WithCancel(context.Background())
	t := &try{name: name, cancel: cancel}
	r.tries[name] = t
	cfg, gone := r.config(name, nil), r.leaving[name]
	r.tasks.Go(func() {
		if gone != nil {
			<-gone
		}
		t.node, t.err = cluster.Start(ctx, cfg)
		r.arrivals <- t
	})
}

func (r *Round) arrive(t *try) {
	if r.tries[t.name] != t { // it has crashed meanwhile
		r.halt(t.node)
		return
	}
	delete(r.tries, t.name)
	t.cancel()
	r.expect("every node can start", t.err)
	r.put(t.name, t.node)
	r.changed, r.whole = time.Now(), 0
	for _, f := range r.eachNode {
		f(t.node)
	}
}

func (r *Round) kill(name string) (killed bool) {
	n, runs := r.running(name)
	t, starts := r.tries[name]
	if !runs && !starts {
		return false
	}
	r.drop(name)
	delete(r.tries, name)
	r.net.Crash(name)
	if starts {
		t.cancel()
	}
	r.halt(n)
	return true
}

func (r *Round) halt(n *cluster.Node) {
	if n != nil {
		r.retire(n)
		n.Halt()
		r.keepCrashed(n)
	}
}

func (r *Round) retire(n *cluster.Node) { r.sentBefore += extension.Sent(n.System) }

func (r *Round) sent() uint64 {
	all := r.sentBefore
	for _, n := range r.Nodes() {
		all += extension.Sent(n.System)
	}
	return all
}

// dismiss does not wait for the node.
func (r *Round) dismiss(name string) (dismissed bool) {
	n, runs := r.running(name)
	if !runs {
		return false
	}
	r.drop(name)
	r.retire(n)
	gone := make(chan struct{})
	r.leaving[name] = gone
	r.tasks.Go(func() {
		defer close(gone)
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		_ = n.Leave(ctx) // when it is cut off, it ends without order
	})
	return true
}

func (r *Round) end() {
	r.net.Heal()
	for _, name := range slices.Sorted(maps.Keys(r.tries)) {
		r.kill(name)
	}
	r.tasks.Wait()
	for len(r.arrivals) > 0 {
		r.halt((<-r.arrivals).node)
	}
	r.tasks.Wait()
	r.close()
}
