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
	mayBegin func()        // closes it

	sentBefore uint64         // by nodes that do not run any more
	sentAt     map[int]uint64 // how many messages there were when a fault began, by number
	met        bool           // some fault met a message

	changed time.Time // when a fault last began or ended, or a node came up
	whole   int       // how many nodes were one cluster before that; 0 if they were not
}

// A try is an attempt to start a node.
type try struct {
	name   string
	node   *cluster.Node
	err    error
	cancel context.CancelFunc
}

// A violation is an invariant that did not hold.
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

// tell runs story, and returns when the faults may begin. The returned channel is closed when
// story has ended.
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

// hearOut waits for story to end.
func (r *Round) hearOut(over <-chan struct{}) {
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

// endIfFailed ends the round if story has failed.
func (r *Round) endIfFailed() {
	if r.Failed() {
		runtime.Goexit()
	}
}

// run is one round, to the end or to the first violation.
func (r *Round) run(s Schedule, story func(*Round)) {
	for _, name := range r.chaos.names() {
		r.start(name, nil)
	}
	r.AwaitQuiet()
	told := r.tell(story)
	r.AwaitQuiet()
	r.changed = time.Now()
	r.suffer(s)
	r.settle()
	r.hearOut(told)
	for _, i := range r.invariants {
		if i.Finally != nil {
			r.expect(i.Name, i.Finally(r))
		}
	}
	r.expectMet(s)
}

// vacuous is the name of the violation of a round that could not fail.
const vacuous = "some fault meets a message"

// expectMet ends a round in which the faults met no messages.
func (r *Round) expectMet(s Schedule) {
	if len(s) > 0 && !r.met && !r.chaos.MembershipOnly {
		r.expect(vacuous, fmt.Errorf("the run is vacuous: during none of its %d faults did a node tell another one anything. "+
			"Have actors work while faults go on: by an invariant of Round.Always, by goroutines, or in the story after Round.Begin. "+
			"When the story is about membership alone, set Chaos.MembershipOnly", len(s)))
	}
}

// expect ends the round if err is not nil.
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

// until lets time pass, and checks the invariants.
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

// settle waits until all nodes are one cluster and no singleton moves.
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

// unsettledAs returns what is wrong in the end.
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

// begin starts a node once its predecessor has left, and does not wait for it.
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

// arrive handles the result of starting a node.
func (r *Round) arrive(t *try) {
	if r.tries[t.name] != t { // it has crashed meanwhile
		r.bury(t.node)
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

// kill crashes a node that runs or is starting.
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
	r.bury(n)
	return true
}

// bury halts a node whose host has crashed.
func (r *Round) bury(n *cluster.Node) {
	if n != nil {
		r.retire(n)
		n.Halt()
		r.mourn(n)
	}
}

// retire adds the messages that a stopped node has sent.
func (r *Round) retire(n *cluster.Node) { r.sentBefore += extension.Sent(n.System) }

// sent returns how many messages nodes have sent to each other.
func (r *Round) sent() uint64 {
	all := r.sentBefore
	for _, n := range r.Nodes() {
		all += extension.Sent(n.System)
	}
	return all
}

// dismiss makes a node leave, and does not wait for it.
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

// end stops everything that runs.
func (r *Round) end() {
	r.net.Heal()
	for _, name := range slices.Sorted(maps.Keys(r.tries)) {
		r.kill(name)
	}
	r.tasks.Wait()
	for len(r.arrivals) > 0 {
		r.bury((<-r.arrivals).node)
	}
	r.tasks.Wait()
	r.close()
}
