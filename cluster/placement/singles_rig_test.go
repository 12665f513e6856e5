package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

// A singlesRig is a machine with nodes and a source that a test looks at between any two
// things that happen. By itself the source answers at once, and agents do as they are told.
type singlesRig struct {
	t       *testing.T
	now     time.Time
	m       *machine
	epoch   uint64
	source  *fakeSource
	journal map[string]record
	bytes   int // that were written to it
	largest int // fact
	nodes   map[string]Node
	gone    []gone
	agents  map[nodeID]map[string]reported

	holdCalls, holdStarts, holdStops bool // they are kept, for the test to answer
	refuse                           func(call) error
	refuseFact                       func(fact) error // of the journal
	failStart                        func(startRequest, nodeID) string
	calls                            []call
	sends, held                      []send
	answers                          map[token]reply
	tokens                           token
	started                          []string // "label generation node", in order
}

var rigConfig = machineConfig{
	strategy: LeastLoaded(), election: Oldest(""),
	ackTimeout: 5 * time.Second, retry: time.Second, retryMax: 30 * time.Second, sourceTimeout: 3 * time.Second,
}

// newSinglesRig begins with those nodes, the oldest first: names, and after a colon roles.
func newSinglesRig(t *testing.T, nodes ...string) *singlesRig {
	r := &singlesRig{
		t: t, now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), source: newFakeSource(), journal: map[string]record{},
		nodes: map[string]Node{}, agents: map[nodeID]map[string]reported{}, answers: map[token]reply{},
	}
	for i, n := range nodes {
		r.add(uint64(i+50), n)
	}
	r.boot()
	return r
}

// add makes a node a member that came up as the n-th.
func (r *singlesRig) add(n uint64, name string) {
	name, roles, _ := strings.Cut(name, ":")
	node := Node{Name: name, Address: name, Incarnation: r.nodes[name].Incarnation + n + 100, UpNumber: n, Up: true, Reachable: true}
	if roles != "" {
		node.Roles = strings.Split(roles, ",")
	}
	r.nodes[name] = node
	r.agents[node.id()] = map[string]reported{}
}

func (n Node) id() nodeID { return nodeID{name: n.Name, incarnation: n.Incarnation} }

// boot has a new coordinator take over.
func (r *singlesRig) boot() {
	r.epoch++
	cfg := rigConfig
	cfg.epoch = r.epoch
	r.m = newMachine(cfg)
	for label, rec := range r.journal {
		r.m.replay(fact{Label: label, Record: &rec})
	}
	r.calls, r.sends, r.held = nil, nil, nil
	r.step(begun{})
	r.look()
}

// look shows the machine how the cluster stands.
func (r *singlesRig) look() {
	v := viewSeen{gone: r.gone}
	for _, n := range r.nodes {
		v.nodes = append(v.nodes, n)
	}
	slices.SortFunc(v.nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	r.step(v)
}

// join adds a node, and leave takes one away, with all that runs on it.
func (r *singlesRig) join(n uint64, name string) {
	r.add(n, name)
	r.look()
}

func (r *singlesRig) crash(names ...string) {
	for _, name := range names {
		delete(r.agents, r.nodes[name].id())
		delete(r.nodes, name)
	}
	r.look()
}

func (r *singlesRig) change(name string, do func(*Node)) {
	n := r.nodes[name]
	do(&n)
	r.nodes[name] = n
	r.look()
}

func (r *singlesRig) step(in input) {
	var u unsaved
	u.add(r.m.step(in, r.now))
	for _, e := range r.save(&u) {
		switch e := e.(type) {
		case reply:
			require.NotContains(r.t, r.answers, e.token, "a request is answered twice")
			r.answers[e.token] = e
		case call:
			if r.holdCalls {
				r.calls = append(r.calls, e)
			} else {
				r.answer(e)
			}
		case send:
			r.send(e)
		}
	}
}

// save stores all facts, and returns the effects.
func (r *singlesRig) save(u *unsaved) []effect {
	for {
		batch := u.batch(maxAppend)
		if err := r.refusal(batch); err != nil {
			require.True(r.t, u.refused(len(batch), err, r.m, r.now))
			continue
		}
		for _, f := range batch {
			r.bytes, r.largest = r.bytes+f.size(), max(r.largest, f.size())
			if f.Record == nil {
				delete(r.journal, f.Label)
			} else {
				r.journal[f.Label] = f.Record.after(r.journal[f.Label])
			}
		}
		if effects, done := u.stored(len(batch)); done {
			return effects
		}
	}
}

func (r *singlesRig) refusal(batch []fact) error {
	for _, f := range batch {
		if r.refuseFact == nil {
			return nil
		}
		if err := r.refuseFact(f); err != nil {
			return err
		}
	}
	return nil
}

// answer has the source answer a call.
func (r *singlesRig) answer(c call) {
	out := sourced{call: c.call}
	if r.refuse != nil {
		out.err = r.refuse(c)
	}
	if out.err == nil {
		out = r.source.ask(c)
	}
	r.step(out)
}

// answerNext has the source answer what it was asked last, and was held.
func (r *singlesRig) answerNext() {
	require.NotEmpty(r.t, r.calls, "the source has not been asked")
	next := r.calls[0]
	r.calls = r.calls[1:]
	r.answer(next)
}

// send tells an agent something, which does it and says so.
func (r *singlesRig) send(e send) {
	id := nodeID{name: e.node, incarnation: e.incarnation}
	runs, there := r.agents[id]
	if !there {
		return
	}
	switch m := e.msg.(type) {
	case reportRequest:
		rep := &report{Epoch: m.Epoch}
		for _, a := range runs {
			rep.Running = append(rep.Running, a)
		}
		r.hear(id, fromAgent{Report: rep})
	case startRequest:
		r.sends = append(r.sends, e)
		if r.holdStarts {
			r.held = append(r.held, e)
			return
		}
		r.ackStart(id, m)
	case stopRequest:
		r.sends = append(r.sends, e)
		if r.holdStops {
			r.held = append(r.held, e)
			return
		}
		r.ackStop(id, m)
	}
}

func (r *singlesRig) hear(id nodeID, msg fromAgent) {
	msg.Node, msg.Incarnation = id.name, id.incarnation
	r.step(heard{msg})
}

func (r *singlesRig) ackStart(id nodeID, m startRequest) {
	ack := &startAck{ID: m.ID, Label: m.Label}
	if r.failStart != nil {
		ack.Error = r.failStart(m, id)
	}
	if now := r.agents[id][m.Label]; ack.Error == "" && now.ID != m.ID {
		r.agents[id][m.Label] = reported{ID: m.ID, Label: m.Label, Generation: m.Generation, Started: true}
		r.started = append(r.started, fmt.Sprintf("%s %v %s", m.Label, m.Generation, id.name))
	}
	r.hear(id, fromAgent{StartAck: ack})
}

func (r *singlesRig) ackStop(id nodeID, m stopRequest) {
	if r.agents[id][m.Label].ID == m.ID {
		delete(r.agents[id], m.Label)
	}
	r.hear(id, fromAgent{StopAck: &stopAck{ID: m.ID, Label: m.Label}})
}

// release has agents do what they were told and have not done.
func (r *singlesRig) release() {
	r.holdStarts, r.holdStops = false, false
	held := r.held
	r.held = nil
	for _, e := range held {
		if _, there := r.agents[nodeID{name: e.node, incarnation: e.incarnation}]; there {
			r.send(e)
		}
	}
}

// end has an instance end that nobody has asked to.
func (r *singlesRig) end(node, label, why string) {
	id := r.nodes[node].id()
	was := r.agents[id][label]
	delete(r.agents[id], label)
	r.hear(id, fromAgent{Ended: &ended{ID: was.ID, Label: label, Error: why}})
}

// pass lets time go by.
func (r *singlesRig) pass(d time.Duration) {
	end := r.now.Add(d)
	for {
		at, ok := r.m.next()
		if !ok || at.After(end) {
			break
		}
		if at.After(r.now) {
			r.now = at
		}
		r.step(passed{})
	}
	r.now = end
	r.step(passed{})
}

func (r *singlesRig) ask(in func(token) input) token {
	r.tokens++
	r.step(in(r.tokens))
	return r.tokens
}

func (r *singlesRig) start(label string, a Anchor) token {
	return r.startSpec(singleOf(label, a))
}

func (r *singlesRig) startSpec(s SingletonSpec) token {
	return r.ask(func(t token) input { return startSingleton{token: t, spec: s} })
}

func (r *singlesRig) move(label string) token {
	return r.ask(func(t token) input { return moveSingleton{token: t, label: label} })
}

func (r *singlesRig) stop(label string) token {
	return r.ask(func(t token) input { return stopSingleton{token: t, label: label} })
}

func singleOf(label string, a Anchor) SingletonSpec {
	return SingletonSpec{Label: label, Type: "kept", Anchor: a}
}

// answered returns the ownership that a request was answered with.
func (r *singlesRig) answered(t token) Ownership {
	r.t.Helper()
	require.Contains(r.t, r.answers, t, "the request has not been answered")
	require.NoError(r.t, r.answers[t].err)
	o, _ := r.answers[t].value.(Ownership)
	return o
}

// failedWith requires that a request was answered with an error.
func (r *singlesRig) failedWith(t token, is error) {
	r.t.Helper()
	require.Contains(r.t, r.answers, t, "the request has not been answered")
	require.ErrorIs(r.t, r.answers[t].err, is)
}

func (r *singlesRig) pending(t token) {
	r.t.Helper()
	require.NotContains(r.t, r.answers, t, "the request has been answered")
}

// is requires that a singleton is in a phase, on a node, with a generation.
func (r *singlesRig) is(label string, phase SingletonPhase, owner string, term, seq uint64) Ownership {
	r.t.Helper()
	o, ok := r.m.ownership(label)
	require.True(r.t, ok, "there is no singleton %q", label)
	require.Equal(r.t, fmt.Sprintf("%s on %q with %d.%d", phase, owner, term, seq), fmt.Sprintf("%s on %q with %v", o.Phase, o.Owner, o.Generation))
	return o
}

func (r *singlesRig) none(label string) {
	r.t.Helper()
	_, ok := r.m.ownership(label)
	require.False(r.t, ok, "there is a singleton %q", label)
	require.Empty(r.t, r.running(label))
}

// running returns where a label runs in truth.
func (r *singlesRig) running(label string) (on []string) {
	for id, runs := range r.agents {
		if _, ok := runs[label]; ok {
			on = append(on, id.name)
		}
	}
	slices.Sort(on)
	return on
}

// A fakeSource is a source of generations without a store.
type fakeSource struct {
	terms map[string]uint64 // the highest ever
	own   map[string]generation.Ownership
	specs map[string]SingletonSpec
	asked []string
}

func newFakeSource() *fakeSource {
	return &fakeSource{terms: map[string]uint64{}, own: map[string]generation.Ownership{}, specs: map[string]SingletonSpec{}}
}

func (f *fakeSource) ask(c call) sourced {
	f.asked = append(f.asked, strings.TrimSpace(c.op.String()+" "+c.label))
	out := sourced{call: c.call}
	own, owned := f.own[c.label]
	switch c.op {
	case claimTerm:
		f.terms[c.label]++
		out.generation = Generation{Term: f.terms[c.label]}
		f.own[c.label] = generation.Ownership{Owner: c.owner, Generation: out.generation}
	case claimSeq:
		if !owned {
			out.err = generation.ErrNeverClaimed
			break
		}
		own.Generation.Seq++
		f.own[c.label], out.generation = own, own.Generation
	case putSpec:
		f.specs[c.label] = c.spec
	case list:
		for label, spec := range f.specs {
			out.records = append(out.records, sourceRecord{spec: spec, owner: f.own[label].Owner, generation: f.own[label].Generation})
		}
		slices.SortFunc(out.records, func(a, b sourceRecord) int { return strings.Compare(a.spec.Label, b.spec.Label) })
	case forget:
		delete(f.own, c.label)
		delete(f.specs, c.label)
	}
	return out
}

var errStore = errors.New("the store is full")

// failing has the calls of those kinds fail.
func failing(ops ...sourceOp) func(call) error {
	return func(c call) error {
		if slices.Contains(ops, c.op) {
			return errStore
		}
		return nil
	}
}
