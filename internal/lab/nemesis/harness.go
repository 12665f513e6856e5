//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/singleton"
)

// errViolated is returned when a check has failed. The details have been printed.
var errViolated = errors.New("nemesis: violated")

// A harness starts the nodes, injects faults, and checks the results.
type harness struct {
	nodes       int
	settle      time.Duration // how long the cluster may take to settle
	keep        bool          // all files, in the end
	secret      []byte        // of the nodes; nil for none
	tls         []identity    // of the nodes; nil for none
	dir         string
	net         *Network
	leases      *leaseServer
	show        *show
	rec         *recorder
	crowd       *crowd        // nil without lists
	travels     *travels      // nil without workflows
	agency      *agency       // nil without workflows
	listsAnswer time.Duration // how long a list may take to answer in the end, in a settled cluster

	programs    []string   // of the nodes; "" for this program
	other       string     // another version of this program; "" for none
	running     []*nodeRun // the last of each node
	processes   []*nodeRun // all
	starts      []int      // how many processes each node has had
	logs        []*os.File
	disruptions []Disruption
	pauses      []*pause // that are not over
	injections  []injection
	settled     []time.Duration // how long it took, each time
	givenUp     []time.Duration // when a side downed itself because reachability kept changing
	woken       int             // how often somebody else has continued a stopped process
	stable      bool            // nothing has happened since the cluster has settled
	journeys    []Journey       // once all runs were asked for their results
	violations  []string
}

// An injection is a fault that was done.
type injection struct {
	fault Fault
	at    time.Duration
	until time.Duration // the next one, or the end

	// replaces is the generation of the instance that it hit, if there was no other fault; zero if
	// it hit no instance.
	replaces singleton.Generation
}

// newHarness builds the network. Close it, if torment is not called.
func newHarness(out io.Writer, o options) (*harness, error) {
	began = machineClock()
	dir, err := os.MkdirTemp("", "nemesis-")
	if err != nil {
		return nil, err
	}
	h := &harness{
		nodes: o.nodes, settle: o.settle, keep: o.keep, secret: o.secret, dir: dir, rec: &recorder{},
		show:    &show{out: out},
		running: make([]*nodeRun, o.nodes), starts: make([]int, o.nodes),
		programs: slices.Clone(o.programs), other: o.other,
	}
	if o.lists > 0 {
		h.listsAnswer = cmp.Or(o.listsAnswer, listsAnswer)
		h.crowd = newCrowd(dir, o.lists, visitPatience, h.rec)
	}
	if h.programs == nil {
		h.programs = make([]string, o.nodes)
	}
	if o.workflows > 0 {
		h.travels = &travels{dir: dir, nodes: nodeNames(o.nodes), most: o.workflows, recorder: h.rec}
		if h.agency, err = openAgency(dir); err != nil {
			return nil, errors.Join(err, h.close(false))
		}
	}
	for n := range o.nodes {
		log, err := os.Create(filepath.Join(dir, nodeName(n)+".log"))
		if err != nil {
			return nil, errors.Join(err, h.close(false))
		}
		h.logs = append(h.logs, log)
	}
	if h.net, err = newNetwork(o.nodes + o.spare + 1); err != nil {
		return nil, errors.Join(err, h.close(false))
	}
	if h.leases, err = serveLeases(o.nodes + o.spare); err != nil {
		return nil, errors.Join(err, h.close(false))
	}
	switch {
	case h.net.delay == nil:
		h.show.text("no slow links: the kernel has neither netem nor tbf")
	case h.net.delay[0] != "netem":
		h.show.text("slow links have a low rate, and no delay: the kernel has no netem")
	}
	return h, nil
}

// can reports whether a kind of fault can be done here.
func (h *harness) can(k Kind) bool { return k != Slow || h.net.delay != nil }

// close ends all processes, and removes the network and, unless keep is set, all files.
func (h *harness) close(keep bool) error {
	for _, p := range h.pauses {
		p.end()
	}
	for _, p := range h.running {
		if p != nil {
			p.kill()
		}
	}
	var errs []error
	if h.leases != nil {
		errs = append(errs, h.leases.close())
	}
	if h.agency != nil {
		errs = append(errs, h.agency.close())
	}
	if h.net != nil {
		h.net.close()
	}
	for _, log := range h.logs {
		errs = append(errs, log.Close())
	}
	if !keep {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// torment runs all rounds and the final checks. It removes all files, except those that help to
// understand a violation.
func (h *harness) torment(ctx context.Context, rounds func(func(Round) bool)) (err error) {
	defer func() {
		keep := h.keep || errors.Is(err, errViolated)
		if keep {
			h.show.text("logs, ticks and the journal are in %s", h.dir)
		}
		err = errors.Join(err, h.close(keep))
	}()
	if err := h.begin(ctx); err != nil {
		return h.failed(err)
	}
	write, done := h.startClients(ctx)
	err = h.injectAll(ctx, rounds)
	done()
	write.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return h.failed(err)
	}
	return h.failed(h.verify(ctx))
}

// failed prints the violations, and err if it is not nil.
func (h *harness) failed(err error) error {
	if err != nil {
		h.violations = append(h.violations, err.Error())
	}
	if len(h.violations) == 0 {
		return nil
	}
	const shown = 30
	h.show.text("\n%d VIOLATIONS", len(h.violations))
	for _, v := range h.violations[:min(shown, len(h.violations))] {
		h.show.text("  %s", v)
	}
	return errViolated
}

// begin starts all nodes and waits until they are one cluster.
func (h *harness) begin(ctx context.Context) error {
	h.show.text("%d nodes, 10.77.0.1 to %d; sockets, journal and logs in %s", h.nodes, h.nodes, h.dir)
	for n := range h.nodes {
		if err := h.start(n); err != nil {
			return err
		}
	}
	return h.awaitSettled(ctx, false)
}

// start starts a process for a node.
func (h *harness) start(n int) error {
	h.starts[n]++
	p, err := startProcess(h.config(n, h.starts[n]), h.programs[n], h.logs[n])
	if err != nil {
		return err
	}
	h.running[n], h.processes = p, append(h.processes, p)
	return nil
}

// config returns the configuration of a node's process; times counts its processes.
func (h *harness) config(n, times int) nodeConfig {
	cfg := nodeConfig{
		Cluster: "nemesis", Name: nodeName(n), Place: nodeName(n), Process: fmt.Sprintf("%s.%d", nodeName(n), times), Bind: address(n), Dir: h.dir,
		Database: h.database(), Began: began, Secret: h.secret,
	}
	cfg.Ticks = filepath.Join(h.dir, cfg.Process+".ticks")
	cfg.Leased = filepath.Join(h.dir, cfg.Process+".leased")
	cfg.Stalls = filepath.Join(h.dir, cfg.Process+".stalls")
	cfg.Lists = h.crowd != nil
	if h.travels != nil {
		cfg.Trips = filepath.Join(h.dir, cfg.Process+".trips")
	}
	cfg.Leases = address(h.leases.place)
	cfg.Events = eventsFile(h.dir, cfg.Process)
	for seed := range h.nodes {
		cfg.Seeds = append(cfg.Seeds, address(seed))
	}
	if h.tls != nil {
		cfg.Identity = &h.tls[n]
	}
	return cfg
}

// eventsFile returns the file with the cluster events of a process.
func eventsFile(dir, process string) string { return filepath.Join(dir, process+".events") }

func (h *harness) database() string { return filepath.Join(h.dir, "journal.db") }

// startClients starts the clients. It returns a group to wait for, and a function that ends them.
func (h *harness) startClients(ctx context.Context) (*sync.WaitGroup, context.CancelFunc) {
	ctx, done := context.WithCancel(ctx)
	all := nodeNames(h.nodes)
	var running sync.WaitGroup
	for i := range clients {
		c := &client{dir: h.dir, nodes: all, name: fmt.Sprintf("c%d", i+1), recorder: h.rec}
		running.Go(func() { c.run(ctx) })
	}
	registrars := registrar{dir: h.dir, pool: &pool{}, clients: new(atomic.Int64), recorder: h.rec}
	for i := range registrarsPerNode * h.nodes {
		r := registrars
		r.node = nodeName(i % h.nodes)
		running.Go(func() { r.run(ctx) })
	}
	if h.crowd != nil {
		for _, node := range all {
			h.crowd.visit(ctx, node)
			running.Go(func() {
				<-ctx.Done()
				h.crowd.leave(node)
			})
		}
	}
	if h.travels != nil {
		for i := range travellersPerNode * h.nodes {
			t := &traveller{travels: h.travels, node: all[i%h.nodes]}
			running.Go(func() { t.run(ctx) })
		}
	}
	return &running, done
}

// injectAll runs one round after the other.
func (h *harness) injectAll(ctx context.Context, rounds func(func(Round) bool)) error {
	for r := range rounds {
		if err := h.injectRound(ctx, r); err != nil {
			return err
		}
	}
	if err := h.awaitSettled(ctx, true); err != nil {
		return err
	}
	h.endInjection()
	return nil
}

// injectRound injects the faults of a round, repairs everything, and waits.
func (h *harness) injectRound(ctx context.Context, r Round) error {
	if r.Stable && !h.stable {
		if err := h.awaitSettled(ctx, true); err != nil {
			return err
		}
	}
	if err := h.inject(r.Faults[0], h.stable && len(r.Faults) == 1); err != nil {
		return err
	}
	rest := r.Faults[0].For
	stopped := rest // until the stopped process continues
	if len(r.Faults) > 1 {
		if err := sleep(ctx, r.Gap); err != nil {
			return err
		}
		if err := h.inject(r.Faults[1], false); err != nil {
			return err
		}
		stopped, rest = rest-r.Gap, max(rest-r.Gap, r.Faults[1].For)
		if r.Faults[1].Kind == Pause {
			stopped = r.Faults[1].For
		}
	}
	if err := sleep(ctx, stopped); err != nil {
		return err
	}
	h.wake() // whatever else is the matter
	if err := sleep(ctx, rest-stopped); err != nil {
		return err
	}
	if err := h.repair(); err != nil {
		return err
	}
	if r.Settle {
		if err := h.awaitSettled(ctx, true); err != nil {
			return err
		}
	}
	return sleep(ctx, r.Rest)
}

// lasting is how long the cluster must stay settled to count as settled.
const lasting = time.Second

// awaitSettled waits until the cluster stays settled and, if acks is set, something has been
// acknowledged since.
func (h *harness) awaitSettled(ctx context.Context, acks bool) error {
	from := clock()
	since, last := from, ""
	for {
		if err := h.alive(); err != nil {
			return err
		}
		asked := clock()
		why := unsettled(h.nodes, h.shards(), h.statuses())
		if why == "" && acks && !h.rec.ackedSince(from) {
			why = "nothing is acknowledged"
		}
		switch now := clock(); {
		case why != "" && now > from+h.settle:
			return fmt.Errorf("not settled %v after everything was repaired: %s", h.settle, why)
		case why != "":
			since, last = now, why
		case asked > since+lasting:
			h.stable = true
			h.settled = append(h.settled, since-from)
			h.show.at(now, "settled, %.2fs after that; before that: %s", (since - from).Seconds(), cmp.Or(last, "all was well"))
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// shards returns how many shards of lists there are.
func (h *harness) shards() int {
	if h.crowd == nil {
		return 0
	}
	return sharding.DefaultShards
}

// statuses asks all nodes at once; those that do not answer are missing.
func (h *harness) statuses() []Status {
	replies := make([]*Status, h.nodes)
	var asking sync.WaitGroup
	for n := range h.nodes {
		asking.Go(func() {
			if reply, err := ask(h.dir, nodeName(n), Request{Status: true}); err == nil {
				replies[n] = reply.Status
			}
		})
	}
	asking.Wait()
	var said []Status
	for _, reply := range replies {
		if reply != nil {
			said = append(said, *reply)
		}
	}
	return said
}

// host returns the node that runs the ledger, or -1 if no node reports it.
func (h *harness) host() int {
	said := h.statuses()
	i := slices.IndexFunc(said, func(s Status) bool { return s.Ledger })
	if i < 0 {
		return -1
	}
	return slices.IndexFunc(h.running, func(p *nodeRun) bool { return p.node == said[i].Node })
}

// alive fails if a process has ended that the harness has not ended.
func (h *harness) alive() error {
	for _, p := range h.running {
		if p.expected.Load() {
			continue
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s has ended by itself: %w", p.name, p.Wait())
		default:
		}
	}
	return nil
}

// others returns all nodes but those.
func (h *harness) others(nodes []int) (rest []int) {
	for n := range h.nodes {
		if !slices.Contains(nodes, n) {
			rest = append(rest, n)
		}
	}
	return rest
}
