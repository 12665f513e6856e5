package placement

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A caseRig is a rig whose test checks all specs, and the requests to nodes.
type caseRig struct{ specsRig }

// newCaseRig returns a rig with those nodes, the oldest first. Each is a name, optionally followed
// by a colon and roles.
func newCaseRig(t *testing.T, nodes ...string) caseRig {
	t.Helper()
	return caseRig{newSpecsRig(t, nodes...)}
}

// by sets the strategy that places specs.
func (r caseRig) by(s Strategy) caseRig {
	r.m.specs.cfg.Strategy = s
	return r
}

// place submits a spec that must be accepted, and returns the node that it is placed on.
func (r caseRig) place(s Spec) string {
	r.t.Helper()
	to := r.submit(s)
	require.Contains(r.t, r.answers, to, "the request has not been answered")
	require.NoError(r.t, r.answers[to].Err)
	return r.answers[to].Value.(Decision).Node
}

// refused submits a spec that must have no eligible node, and returns how many nodes each filter
// has removed.
func (r caseRig) removedBy(s Spec) map[string]int {
	r.t.Helper()
	to := r.submit(s)
	require.Contains(r.t, r.answers, to, "the request has not been answered")
	return caseRemoved(r.t, r.answers[to].Err)
}

// specs returns "label state node" of all specs, in their order.
func (r caseRig) specs() []string {
	all := []string{}
	for _, s := range r.m.Statuses() {
		all = append(all, fmt.Sprintf("%s %s %s", s.Spec.Label, s.State, s.Node))
	}
	return all
}

// quiet requires that no request waits for an answer.
func (r caseRig) quiet() {
	r.t.Helper()
	for label := range r.m.specs.all {
		require.Empty(r.t, r.m.nodes.Awaited(label))
	}
	require.Empty(r.t, r.m.held())
	require.Empty(r.t, r.m.specs.removals)
}

// startOf returns the last start request of a label, and the node that it was sent to.
func (r caseRig) startOf(label string) (home.NodeID, home.StartRequest) {
	r.t.Helper()
	for _, e := range slices.Backward(r.sends) {
		if start, ok := e.Msg.(home.StartRequest); ok && start.Label == label {
			return home.NodeID{Name: e.Node, Incarnation: e.Incarnation}, start
		}
	}
	require.Fail(r.t, "nobody was asked to start it", label)
	return home.NodeID{}, home.StartRequest{}
}

func caseRemoved(t *testing.T, err error) map[string]int {
	t.Helper()
	require.ErrorIs(t, err, ErrNoEligibleNodes)
	var none *NoEligibleNodesError
	require.ErrorAs(t, err, &none)
	return none.Removed
}

// caseSpec returns a spec with constraints.
func caseSpec(label string, c Constraints) Spec {
	return Spec{Label: label, Type: "kept", Constraints: c}
}

func onlyOn(node string) Constraints   { return Constraints{RequiredNode: node} }
func withRole(role string) Constraints { return Constraints{Roles: []string{role}} }
func beside(label string) Constraints  { return Constraints{ColocateWith: label} }
func apart(labels ...string) Constraints {
	return Constraints{AntiAffinity: labels}
}

// caseNode returns a node that is alive.
func caseNode(name string, roles ...string) home.Node {
	return home.Node{Name: name, Roles: roles, Up: true, Reachable: true, Ready: true}
}
