// Package roll starts a cluster of the old build of a program, replaces its nodes one after the
// other by the new build, and rolls them back, each as a process of its own.
package roll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
)

// A Config says what is rolled.
type Config struct {
	Old, New string        // files of the builds
	Journal  string        // a copy, which the nodes write to
	Line     string        // how a node is started: see [parseLine]
	URL      string        // of the status page of a node, with placeholders
	Client   client.Config // for the status pages; URLs are set here
	Nodes    int
	Load     string        // a request or a command, see load.go; "" for none
	Within   time.Duration // how long a node may take to stop, and the cluster to settle

	Accepted func(Problem) bool // those do not stop a step
	Progress func(text string)
}

// A Result is what a roll has found.
type Result struct {
	Steps    []Step
	Requests int // that the load has made, and that were answered
	Problems []Problem
	Notes    []Problem
}

// A Step replaces one node, or starts or stops all. The JSON names are a stable interface;
// docs/cli.md describes them.
type Step struct {
	Name     string   `json:"name"`
	Seconds  float64  `json:"seconds"`
	Versions []string `json:"versions"` // of the application, among the members afterwards
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"` // their keys, with those that are accepted
}

// A Problem is what went wrong in a step.
type Problem struct {
	Kind  string
	About string // a singleton, a member or a reason, or ""
	Text  string
	Step  string
}

// Key names the problem for -accept.
func (p Problem) Key() string {
	return strings.TrimRight("roll:"+p.Kind+":"+p.About, ":")
}

// Run rolls. The error says that there was nothing to roll: the old build does not form a cluster,
// or the load fails against it.
func Run(ctx context.Context, cfg Config) (Result, error) {
	line, err := parseLine(cfg.Line)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &roll{Config: cfg, line: line, known: map[string]bool{}}
	defer r.killAll()
	if err := r.place(); err != nil {
		return Result{}, err
	}
	if r.load, err = newLoad(cfg.Load, r.nodes); err != nil {
		return Result{}, err
	}
	if err := r.form(ctx); err != nil {
		return Result{}, err
	}
	r.backAndForth(ctx)
	requests, failed := r.load.end()
	r.note(failed, "load")
	r.stop(ctx)
	r.Requests = requests
	return r.Result, ctx.Err()
}

type roll struct {
	Config
	Result
	line   line
	nodes  []*node
	known  map[string]bool // what the old build shows by itself
	before []string        // versions
	load   load
}

func (r *roll) place() error {
	at, err := freeAddresses(2 * r.Nodes)
	if err != nil {
		return err
	}
	seeds := strings.Join(at[:r.Nodes], ",")
	for i := range r.Nodes {
		n := &node{name: fmt.Sprint("n", i+1), address: at[i], http: at[r.Nodes+i], seeds: seeds, journal: r.Journal, output: new(output)}
		c := r.Client
		c.URLs = []string{n.fill(r.URL)}
		if n.client, err = client.New(c); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
	}
	return nil
}

// form starts the cluster of the old build. What that shows by itself is known from then on.
func (r *roll) form(ctx context.Context) error {
	s := r.begin("start the old build")
	for _, n := range r.nodes {
		if err := n.start(ctx, r.line, r.Old); err != nil {
			return err
		}
	}
	found := r.settle(ctx)
	for _, p := range found {
		switch {
		case p.Kind == "ended":
			return fmt.Errorf("the old build does not run with the line of -roll: %s", p.Text)
		case p.fatal:
			return fmt.Errorf("%d nodes of the old build form no cluster; their journal, %s, must be one that several processes may use: %s", r.Nodes, r.Journal, p.Text)
		}
	}
	failed, err := r.beginLoad(ctx)
	if err != nil {
		return err
	}
	for _, p := range slices.Concat(found, r.said(ctx)) {
		r.known[p.Key()] = true
	}
	found = append(found, failed...)
	r.done(ctx, s, found)
	r.before = r.Steps[0].Versions
	return nil
}

// beginLoad returns an error if the load fails against the old build, unless that is accepted.
func (r *roll) beginLoad(ctx context.Context) ([]finding, error) {
	if r.Load == "" {
		r.say("without -load nobody asks the nodes for anything")
	}
	if err := r.load.begin(ctx); err != nil {
		return nil, err
	}
	found := r.load.meet(ctx)
	if r.blocking(found) {
		r.load.end()
		return nil, fmt.Errorf("-load: it fails against the old build by itself, so nothing was rolled: %s", found[0].Text)
	}
	return found, nil
}

// backAndForth updates the nodes, the youngest first, and rolls back those that were updated. It
// stops the update at the first problem, as an operator would. A node of the old build that has
// ended meanwhile is started again.
func (r *roll) backAndForth(ctx context.Context) {
	var updated []*node
	fine := true
	for _, n := range slices.Backward(r.nodes) {
		updated = append(updated, n)
		if fine = r.replace(ctx, "update "+n.name, n, r.New, fine); !fine {
			break
		}
	}
	if fine && slices.Equal(r.before, r.Steps[len(r.Steps)-1].Versions) {
		r.Notes = append(r.Notes, Problem{Kind: "version", Text: "Both builds have the same cluster.Config.AppVersion, so nobody can tell their nodes apart.", Step: "update"})
	}
	for _, n := range r.nodes {
		if slices.Contains(updated, n) || !n.runs() {
			fine = r.replace(ctx, "roll "+n.name+" back", n, r.Old, fine)
		}
	}
}

// replace reports whether the cluster has settled with the other build on a node. fine says whether
// it had settled before.
func (r *roll) replace(ctx context.Context, name string, n *node, build string, fine bool) bool {
	if ctx.Err() != nil {
		return false
	}
	s := r.begin(name)
	var found []finding
	if fine {
		found = r.safe(ctx, n)
	}
	found = append(found, r.said(ctx)...) // what n knows is lost with it
	broken := n.broken
	found = append(found, r.halt(n)...)
	for _, f := range r.load.failed() {
		f.note = broken // the step before has found it
		found = append(found, f)
	}
	if err := n.start(ctx, r.line, build); err != nil {
		return r.done(ctx, s, append(found, finding{Problem: Problem{Kind: "start", Text: n.name + ": " + err.Error()}}))
	}
	found = append(found, r.settle(ctx)...)
	if !r.blocking(found) { // else the node is going to be rolled back
		found = append(found, r.load.meet(ctx)...)
	}
	found = append(found, r.said(ctx)...)
	n.broken = r.blocking(found)
	return r.done(ctx, s, found)
}

func (r *roll) begin(name string) *step {
	r.say(name)
	return &step{Step: Step{Name: name, Problems: []string{}}, begun: time.Now()}
}

func (r *roll) say(text string) {
	if r.Progress != nil {
		r.Progress("roll: " + text)
	}
}

type step struct {
	Step
	begun time.Time
}

func (r *roll) done(ctx context.Context, s *step, found []finding) (ok bool) {
	s.Seconds = time.Since(s.begun).Seconds()
	s.Versions = r.versions(ctx)
	known := len(r.Problems)
	s.OK = r.note(found, s.Name)
	for _, p := range r.Problems[known:] {
		if !slices.Contains(s.Problems, p.Key()) {
			s.Problems = append(s.Problems, p.Key())
		}
	}
	r.Steps = append(r.Steps, s.Step)
	return s.OK
}

// note reports whether there is nothing among the findings that stops the roll.
func (r *roll) note(found []finding, step string) (ok bool) {
	ok = true
	for _, f := range found {
		f.Step = step
		switch {
		case r.known[f.Key()]:
			r.Notes = append(r.Notes, f.Problem)
		case f.note:
			r.Notes = append(r.Notes, f.Problem)
		default:
			r.Problems = append(r.Problems, f.Problem)
			ok = ok && r.Accepted != nil && r.Accepted(f.Problem)
		}
	}
	return ok
}

// halt stops a node in order. The exit code of a process counts if it had come up. With the old
// build it is a note.
func (r *roll) halt(n *node) []finding {
	err := n.stop(r.Within)
	if err == nil {
		return nil
	}
	p := Problem{Kind: "stop", Text: n.name + ": " + err.Error()}
	if ended, is := errors.AsType[*endedError](err); is {
		p = Problem{Kind: "exit", Text: n.name + ": at SIGTERM " + ended.Error()}
		if n.broken {
			return nil
		}
	}
	return []finding{{Problem: p, note: p.Kind == "exit" && n.build == r.Old}}
}

func (r *roll) stop(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	s := r.begin("stop all")
	var found []finding
	for _, n := range r.nodes {
		found = append(found, r.halt(n)...)
	}
	for _, n := range r.nodes {
		found = append(found, n.errors()...)
	}
	r.done(ctx, s, found)
}

func (r *roll) killAll() {
	for _, n := range r.nodes {
		n.kill()
	}
}
