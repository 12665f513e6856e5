package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A specsRig is a planner with nodes, for specs.
type specsRig struct{ *singletonsRig }

// newSpecsRig begins with those nodes, see newSingletonsRig.
func newSpecsRig(t *testing.T, nodes ...string) specsRig {
	return specsRig{newSingletonsRig(t, nodes...)}
}

func specOf(label string) Spec { return Spec{Label: label, Type: "t"} }

func with(label string, c Constraints) Spec { return specOf(label).WithConstraints(c) }

func (r specsRig) submit(s Spec) home.Token {
	return r.ask(func(t home.Token) home.Input { return submit{Token: t, Spec: s} })
}

// placed submits a spec, and returns the node that was chosen.
func (r specsRig) placed(s Spec) string {
	r.t.Helper()
	answer := r.answers[r.submit(s)]
	require.NoError(r.t, answer.Err)
	d, ok := answer.Value.(Decision)
	require.True(r.t, ok, "no decision: %v", answer)
	require.Equal(r.t, s.Label, d.Label)
	return d.Node
}

// refused submits a spec, and returns the error.
func (r specsRig) refused(s Spec) error {
	r.t.Helper()
	answer := r.answers[r.submit(s)]
	require.Error(r.t, answer.Err)
	require.Nil(r.t, answer.Value)
	return answer.Err
}

func (r specsRig) remove(label string) home.Token {
	return r.ask(func(t home.Token) home.Input { return remove{Token: t, Label: label} })
}

func (r specsRig) drain(node string) home.Token {
	return r.ask(func(t home.Token) home.Input {
		return home.Drain{Token: t, Node: home.NodeID{Name: node, Incarnation: r.nodes[node].Incarnation}}
	})
}

// done requires that a request was answered without an error.
func (r specsRig) done(to home.Token) {
	r.t.Helper()
	require.Contains(r.t, r.answers, to, "the request has not been answered")
	require.NoError(r.t, r.answers[to].Err)
}

// back has a node of that name join, in another incarnation.
func (r specsRig) back(n uint64, name string) { r.join(n, name) }

// vanish takes a node away, which the coordinator does not hear of.
func (r specsRig) vanish(name string) {
	delete(r.agents, home.IDOf(r.nodes[name]))
	delete(r.nodes, name)
}

func (r specsRig) status(label string) Status {
	r.t.Helper()
	for _, st := range r.m.Statuses() {
		if st.Spec.Label == label {
			return st
		}
	}
	require.Fail(r.t, "no such spec: "+label)
	return Status{}
}

// runs requires that a spec runs on a node, in the eyes of the coordinator and in truth.
func (r specsRig) runs(label, node string) {
	r.t.Helper()
	st := r.status(label)
	require.Equal(r.t, Running, st.State, "%s: %+v", label, st)
	require.Equal(r.t, node, st.Node, label)
	require.Equal(r.t, []string{node}, r.running(label), label)
}

// inState requires that a spec is in a state in which its actor does not run.
func (r specsRig) inState(label string, s State) Status {
	r.t.Helper()
	st := r.status(label)
	require.Equal(r.t, s, st.State, "%s: %+v", label, st)
	require.Empty(r.t, r.running(label), label)
	return st
}

func (r specsRig) absent(label string) {
	r.t.Helper()
	for _, st := range r.m.Statuses() {
		require.NotEqual(r.t, label, st.Spec.Label)
	}
	require.Empty(r.t, r.running(label), label)
	require.NotContains(r.t, r.journal, label)
}

// meta gives a node what the cluster tells of it.
func (r specsRig) meta(name string, meta map[string]string) {
	r.change(name, func(n *home.Node) { n.Meta = meta })
}

func (r specsRig) heldStart(label string) (home.NodeID, home.StartRequest) {
	r.t.Helper()
	for _, e := range r.held {
		if m, ok := e.Msg.(home.StartRequest); ok && m.Label == label {
			return home.NodeID{Name: e.Node, Incarnation: e.Incarnation}, m
		}
	}
	require.Fail(r.t, "nothing was asked to start "+label)
	return home.NodeID{}, home.StartRequest{}
}

// passing lets time go by, to a moment before and after a deadline.
func (r specsRig) passing(d time.Duration, before, after func()) {
	r.pass(d - time.Millisecond)
	before()
	r.pass(2 * time.Millisecond)
	after()
}
