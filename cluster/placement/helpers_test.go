package placement_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// message is the message type of counters.
type message interface{ message() }

type (
	// increment adds to the counter.
	increment struct {
		By      int
		ReplyTo actor.ActorRef[result]
	}
	// crash makes the counter fail.
	crash struct{}
)

// result is the reply of a counter.
type result struct {
	Sum        int
	Node       string // the address
	Generation singleton.Generation
}

func (increment) message() {}
func (crash) message()     {}

func init() {
	actor.RegisterType[increment]("placement-test.increment")
	actor.RegisterType[crash]("placement-test.crash")
	actor.RegisterType[result]("placement-test.result")
}

// A plan says how the counters of a test behave. A counter has the name of its plan in its state.
type plan struct {
	mu      sync.Mutex // guards all below
	failing bool
	takes   time.Duration
	running map[string]int // by address
	peak    int
	starts  []string // addresses
}

var plans sync.Map

// origin is the initial state of a counter.
type origin struct {
	Plan  string
	Count int
}

var (
	counters = placement.NewType[origin, message]("counter")

	// kinds are the factories of every node in these tests.
	kinds = []placement.Factory{counters.Factory(newCounter), slow.Factory(newSlow)}
)

func newCounter(o origin) actor.Behavior[message] {
	p := planOf(o.Plan)
	p.wait()
	sum := o.Count
	return behaviors.Setup(func(ctx *actor.Context[message]) actor.Behavior[message] {
		ctx.Defer(p.begin(ctx.System()))
		return behaviors.Receive(func(ctx *actor.Context[message], msg message) actor.Behavior[message] {
			switch msg := msg.(type) {
			case increment:
				sum += msg.By
				msg.ReplyTo.Tell(result{sum, ctx.System().Address(), singleton.GenerationOf(ctx)})
			case crash:
				return ctx.Fail(errors.New("told to"))
			}
			return behaviors.Same
		})
	})
}

// begin counts an actor on its node, until end is called or the node crashes.
func (p *plan) begin(s *actor.System) (end func()) {
	p.change(s.Address(), 1)
	over := sync.OnceFunc(func() { p.change(s.Address(), -1) })
	cancel := extension.OnHalt(s, over)
	return func() {
		cancel()
		over()
	}
}

func planOf(name string) *plan {
	p, _ := plans.LoadOrStore(name, &plan{running: map[string]int{}})
	return p.(*plan)
}

// wait waits for the duration of a factory, and then fails if the plan says so.
func (p *plan) wait() {
	p.mu.Lock()
	takes, failing := p.takes, p.failing
	p.mu.Unlock()
	time.Sleep(takes)
	if failing {
		panic("the factory is broken")
	}
}

func (p *plan) set(f func(p *plan)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}

func (p *plan) change(address string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[address] += by
	if by > 0 {
		p.starts = append(p.starts, address)
	}
	p.peak = max(p.peak, p.count())
}

func (p *plan) count() (sum int) {
	for _, n := range p.running {
		sum += n
	}
	return sum
}

// alive returns how many counters of the plan run, and the maximum that ran at once.
func (p *plan) alive() (now, peak int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count(), p.peak
}

// A world is a cluster of nodes with placement.
type world struct {
	*clustertest.Cluster
	t      *testing.T
	cfg    placement.Config
	plan   *plan
	name   string // of the plan
	client map[string]*placement.Coordinator
}

// A setup is what a world is made with.
type setup struct {
	placement.Config
	Journal persistence.Journal
}

// inWorld runs f with n nodes with placement, in a bubble.
func inWorld(t *testing.T, n int, f func(t *testing.T, w *world), change ...func(cfg *setup)) {
	t.Helper()
	t.Cleanup(func() { plans.Delete(t.Name()) }) // it may run again
	synctest.Test(t, func(t *testing.T) {
		cfg := setup{placement.Config{Factories: kinds}, journal.NewMemory()}
		for _, each := range change {
			each(&cfg)
		}
		w := &world{t: t, cfg: cfg.Config, name: t.Name(), plan: planOf(t.Name()), client: map[string]*placement.Coordinator{}}
		w.Cluster = clustertest.Start(t, n, profile, clustertest.WithJournal(cfg.Journal))
		for _, node := range w.Nodes() {
			w.join(node)
		}
		settle()
		f(t, w)
	})
}

// profile gives each node a role and metadata that only it has.
func profile(name string, cfg *cluster.Config) {
	cfg.Roles, cfg.Meta = []string{"role-" + name}, map[string]string{"name": name}
}

func (w *world) join(n *cluster.Node) {
	w.t.Helper()
	c, err := placement.Start(n, w.cfg)
	require.NoError(w.t, err)
	w.client[n.View().Self.Name] = c
}

// settle waits until nothing is in progress.
func settle() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

func (w *world) spec(label string) placement.Spec {
	return counters.Spec(label, origin{Plan: w.name})
}

func (w *world) on(name string) placement.Constraints {
	return placement.Constraints{Meta: map[string]string{"name": name}}
}

func (w *world) submit(s placement.Spec) placement.Decision {
	w.t.Helper()
	d, err := w.client["n1"].Submit(w.t.Context(), s)
	require.NoError(w.t, err)
	return d
}

// states returns "label state node" of all specs, as seen by the coordinator.
func (w *world) states(through string) []string {
	w.t.Helper()
	specs, err := w.client[through].Specs(w.t.Context())
	require.NoError(w.t, err)
	all := []string{}
	for _, s := range specs {
		all = append(all, fmt.Sprintf("%s %s %s", s.Spec.Label, s.State, s.Node))
	}
	return all
}

// add tells a counter to add 1, from a node.
func (w *world) add(from, label string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	r, err := actor.Ask(ctx, counters.Ref(w.Node(from).System, label), func(replyTo actor.ActorRef[result]) message {
		return increment{By: 1, ReplyTo: replyTo}
	})
	require.NoError(w.t, err)
	return r
}
