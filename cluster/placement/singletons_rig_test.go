package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
)

// A singletonsRig is a planner with nodes, and perhaps a source. A test can inspect it after each
// event. By default the source answers at once, and agents carry out requests at once.
type singletonsRig struct {
	t       *testing.T
	now     time.Time
	m       *planner
	epoch   uint64
	source  *fakeSource // nil: the planner issues terms
	journal map[string]home.Record
	singles map[string]home.Record // in the journal, too
	bytes   int                    // bytes written to the journal
	largest int                    // fact
	nodes   map[string]home.Node
	gone    []home.Gone
	agents  map[home.NodeID]map[string]home.Reported

	holdCalls, holdStarts, holdStops bool                  // they are kept, for the test to answer
	refuse                           error                 // of the source
	refuseFact                       func(home.Fact) error // of the journal
	failStart                        func(home.StartRequest, home.NodeID) string
	calls                            []claimTerm
	sends, held                      []home.Send
	answers                          map[home.Token]home.Reply
	waits                            map[home.Token]string // why requests have not been answered
	tokens                           home.Token
	started                          []string // "label generation node", in order
	moves                            []home.Moved
}

var rigConfig = plannerConfig{
	Config:   home.Config{AckTimeout: 5 * time.Second, Retry: time.Second, RetryMax: 30 * time.Second},
	Strategy: LeastLoaded(), Election: oldest(""),
}

// newSingletonsRig returns a rig with those nodes, the oldest first. Each is a name, optionally
// followed by a colon and roles.
func newSingletonsRig(t *testing.T, nodes ...string) *singletonsRig {
	return newSourceRig(t, nil, nodes...)
}

// newSourceRig returns a rig whose planner takes terms from a source.
func newSourceRig(t *testing.T, source *fakeSource, nodes ...string) *singletonsRig {
	r := &singletonsRig{
		t: t, now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), source: source, journal: map[string]home.Record{}, singles: map[string]home.Record{},
		nodes: map[string]home.Node{}, agents: map[home.NodeID]map[string]home.Reported{}, answers: map[home.Token]home.Reply{},
	}
	for i, n := range nodes {
		r.add(uint64(i+50), n)
	}
	r.boot()
	return r
}

// add makes a node a member that came up as the n-th.
func (r *singletonsRig) add(n uint64, name string) {
	name, roles, _ := strings.Cut(name, ":")
	node := home.Node{Name: name, Address: name, Incarnation: r.nodes[name].Incarnation + n + 100, UpNumber: n, Up: true, Reachable: true}
	if roles != "" {
		node.Roles = strings.Split(roles, ",")
	}
	r.nodes[name] = node
	r.agents[home.IDOf(node)] = map[string]home.Reported{}
}

// boot lets a new coordinator take over.
func (r *singletonsRig) boot() {
	r.epoch++
	cfg := rigConfig
	cfg.Epoch = r.epoch
	if r.source != nil {
		cfg.SourceTimeout = 3 * time.Second
	}
	r.m = newPlanner(cfg)
	r.m.Replay(join(r.journal, r.singles))
	r.calls, r.sends, r.held, r.waits = nil, nil, nil, map[home.Token]string{}
	r.step(home.Recovered{})
	r.look()
}

// look gives the planner the state of the cluster.
func (r *singletonsRig) look() {
	v := home.ViewChanged{Gone: r.gone}
	for _, n := range r.nodes {
		v.Nodes = append(v.Nodes, n)
	}
	slices.SortFunc(v.Nodes, func(a, b home.Node) int { return strings.Compare(a.Name, b.Name) })
	r.step(v)
}

// join adds a node. leave removes a node with its actors.
func (r *singletonsRig) join(n uint64, name string) {
	r.add(n, name)
	r.look()
}

func (r *singletonsRig) crash(names ...string) {
	for _, name := range names {
		delete(r.agents, home.IDOf(r.nodes[name]))
		delete(r.nodes, name)
	}
	r.look()
}

func (r *singletonsRig) change(name string, do func(*home.Node)) {
	n := r.nodes[name]
	do(&n)
	r.nodes[name] = n
	r.look()
}

func (r *singletonsRig) step(in home.Input) {
	var u journaled.Pending[home.Fact, home.Effect]
	u.Add(r.m.Step(in, r.now))
	for _, e := range r.save(&u) {
		switch e := e.(type) {
		case home.Reply:
			require.NotContains(r.t, r.answers, e.Token, "a request is answered twice")
			r.answers[e.Token] = e
			delete(r.waits, e.Token)
		case home.Waits:
			if _, waits := r.waits[e.Token]; waits { // no agent has answered in this step
				r.waits[e.Token] = e.Why
			}
		case claimTerm:
			if r.holdCalls {
				r.calls = append(r.calls, e)
			} else {
				r.answer(e)
			}
		case home.Send:
			r.send(e)
		case home.Moved:
			r.moves = append(r.moves, e)
		}
	}
}

// save stores all facts, and returns the effects.
func (r *singletonsRig) save(u *journaled.Pending[home.Fact, home.Effect]) []home.Effect {
	for {
		batch := u.Batch(4<<20, home.Fact.Size)
		if err := r.refusal(batch); err != nil {
			require.True(r.t, u.Refused(len(batch), err, r.m, r.now))
			continue
		}
		for _, f := range batch {
			r.bytes, r.largest = r.bytes+f.Size(), max(r.largest, f.Size())
			r.journal, r.singles = split(join(r.journal, r.singles).With(f))
		}
		if effects, done := u.Stored(len(batch)); done {
			return effects
		}
	}
}

func (r *singletonsRig) refusal(batch []home.Fact) error {
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

// answer lets the source answer a call.
func (r *singletonsRig) answer(c claimTerm) {
	out := termClaimed{Number: c.Number, Err: r.refuse}
	if out.Err == nil {
		out.Term = r.source.claim(c)
	}
	r.step(out)
}

// answerNext lets the source answer the last held call.
func (r *singletonsRig) answerNext() {
	require.NotEmpty(r.t, r.calls, "the source has not been asked")
	next := r.calls[0]
	r.calls = r.calls[1:]
	r.answer(next)
}

// send sends a request to an agent, which carries it out and acknowledges it.
func (r *singletonsRig) send(e home.Send) {
	id := home.NodeID{Name: e.Node, Incarnation: e.Incarnation}
	runs, there := r.agents[id]
	if !there {
		return
	}
	switch m := e.Msg.(type) {
	case home.ReportRequest:
		rep := &home.Report{Epoch: m.Epoch}
		for _, a := range runs {
			rep.Running = append(rep.Running, a)
		}
		r.hear(id, home.FromAgent{Report: rep})
	case home.StartRequest:
		r.sends = append(r.sends, e)
		r.requireAnchor(id, m)
		if r.holdStarts {
			r.held = append(r.held, e)
			return
		}
		r.ackStart(id, m)
	case home.StopRequest:
		r.sends = append(r.sends, e)
		if r.holdStops {
			r.held = append(r.held, e)
			return
		}
		r.ackStop(id, m)
	}
}

// requireAnchor requires that what a spec is colocated with runs when its actor is to start. A
// request that the node has carried out may be repeated.
func (r *singletonsRig) requireAnchor(on home.NodeID, start home.StartRequest) {
	r.t.Helper()
	it := r.m.specs.all[start.Label]
	if it == nil || it.Constraints.ColocateWith == "" || r.agents[on][start.Label].ID == start.ID {
		return
	}
	require.True(r.t, r.agents[on][it.Constraints.ColocateWith].Started, "%s is to start on %s before %s runs there", start.Label, on.Name, it.Constraints.ColocateWith)
}

func (r *singletonsRig) hear(id home.NodeID, msg home.FromAgent) {
	msg.Node, msg.Incarnation = id.Name, id.Incarnation
	r.step(home.Received{Message: msg})
}

func (r *singletonsRig) ackStart(id home.NodeID, m home.StartRequest) {
	ack := &home.StartAck{ID: m.ID, Label: m.Label}
	if r.failStart != nil {
		ack.Error = r.failStart(m, id)
	}
	if now := r.agents[id][m.Label]; ack.Error == "" && now.ID != m.ID {
		r.agents[id][m.Label] = home.Reported{ID: m.ID, Label: m.Label, Generation: m.Generation, Started: true}
		r.started = append(r.started, fmt.Sprintf("%s %v %s", m.Label, m.Generation, id.Name))
	}
	r.hear(id, home.FromAgent{StartAck: ack})
}

func (r *singletonsRig) ackStop(id home.NodeID, m home.StopRequest) {
	if r.agents[id][m.Label].ID == m.ID {
		delete(r.agents[id], m.Label)
	}
	r.hear(id, home.FromAgent{StopAck: &home.StopAck{ID: m.ID, Label: m.Label}})
}

// release lets agents carry out the held requests.
func (r *singletonsRig) release() {
	r.holdStarts, r.holdStops = false, false
	held := r.held
	r.held = nil
	for _, e := range held {
		if _, there := r.agents[home.NodeID{Name: e.Node, Incarnation: e.Incarnation}]; there {
			r.send(e)
		}
	}
}

// end ends an instance without a request.
func (r *singletonsRig) end(node, label, why string) {
	id := home.IDOf(r.nodes[node])
	was := r.agents[id][label]
	delete(r.agents[id], label)
	r.hear(id, home.FromAgent{Ended: &home.Ended{ID: was.ID, Label: label, Error: why}})
}

// pass lets time go by.
func (r *singletonsRig) pass(d time.Duration) {
	end := r.now.Add(d)
	for {
		at, ok := r.m.Next()
		if !ok || at.After(end) {
			break
		}
		if at.After(r.now) {
			r.now = at
		}
		r.step(home.Tick{})
	}
	r.now = end
	r.step(home.Tick{})
	r.explained()
}

func (r *singletonsRig) ask(in func(home.Token) home.Input) home.Token {
	r.tokens++
	request := in(r.tokens)
	if _, drains := request.(home.Drain); !drains {
		r.waits[r.tokens] = ""
	}
	r.step(request)
	r.explained()
	return r.tokens
}

// explained requires that the caller of each request that waits can be told why.
func (r *singletonsRig) explained() {
	for to, why := range r.waits {
		require.NotEmpty(r.t, why, "request %d waits without a reason", to)
	}
}

func (r *singletonsRig) start(label string, a Anchor) home.Token {
	return r.startSpec(singleOf(label, a))
}

func (r *singletonsRig) startSpec(s SingletonSpec) home.Token {
	return r.ask(func(t home.Token) home.Input { return startSingleton{Token: t, Spec: s} })
}

func (r *singletonsRig) move(label string) home.Token {
	return r.ask(func(t home.Token) home.Input { return moveSingleton{Token: t, Label: label} })
}

func (r *singletonsRig) stop(label string) home.Token {
	return r.ask(func(t home.Token) home.Input { return stopSingleton{Token: t, Label: label} })
}

func singleOf(label string, a Anchor) SingletonSpec {
	return SingletonSpec{Label: label, Type: "kept", Anchor: a}
}

// answered returns the ownership that a request was answered with.
func (r *singletonsRig) answered(t home.Token) Ownership {
	r.t.Helper()
	require.Contains(r.t, r.answers, t, "the request has not been answered")
	require.NoError(r.t, r.answers[t].Err)
	o, _ := r.answers[t].Value.(Ownership)
	return o
}

// failedWith requires that a request was answered with an error.
func (r *singletonsRig) failedWith(t home.Token, is error) {
	r.t.Helper()
	require.Contains(r.t, r.answers, t, "the request has not been answered")
	require.ErrorIs(r.t, r.answers[t].Err, is)
}

func (r *singletonsRig) pending(t home.Token) {
	r.t.Helper()
	require.NotContains(r.t, r.answers, t, "the request has been answered")
}

// is requires that a singleton is in a phase, on a node, with a generation.
func (r *singletonsRig) is(label string, phase SingletonPhase, owner string, term, seq uint64) Ownership {
	r.t.Helper()
	o, ok := r.m.ownership(label)
	require.True(r.t, ok, "there is no singleton %q", label)
	require.Equal(r.t, fmt.Sprintf("%s on %q with %d.%d", phase, owner, term, seq), fmt.Sprintf("%s on %q with %v", o.Phase, o.Owner, o.Generation))
	return o
}

func (r *singletonsRig) none(label string) {
	r.t.Helper()
	_, ok := r.m.ownership(label)
	require.False(r.t, ok, "there is a singleton %q", label)
	require.Empty(r.t, r.running(label))
}

// running returns the nodes on which a label actually runs.
func (r *singletonsRig) running(label string) (on []string) {
	for id, runs := range r.agents {
		if _, ok := runs[label]; ok {
			on = append(on, id.Name)
		}
	}
	slices.Sort(on)
	return on
}

// forgotten requires that the journal has nothing of a singleton but its last grant.
func (r *singletonsRig) forgotten() {
	r.t.Helper()
	rec := r.singles["catalog"]
	require.True(r.t, rec.Ended)
	require.Empty(r.t, rec.Spec)
	require.Empty(r.t, rec.Node)
}

// A fakeSource is a source of generations without a store.
type fakeSource struct {
	terms map[string]uint64 // the highest ever
	asked int

	ignoresFloor bool // it breaks its contract
}

func newFakeSource() *fakeSource { return &fakeSource{terms: map[string]uint64{}} }

func (f *fakeSource) claim(c claimTerm) uint64 {
	f.asked++
	if !f.ignoresFloor {
		f.terms[c.Label] = max(f.terms[c.Label], c.Floor)
	}
	f.terms[c.Label]++
	return f.terms[c.Label]
}

var errStore = errors.New("the store is full")
