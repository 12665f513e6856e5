package membership

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Until the first member is up, nodes with different minimums form no cluster together.
func TestNodesOfDifferentMinimumsFoundNoClusterTogether(t *testing.T) {
	r := newRig(nil)
	require.Empty(t, r.set.agreement().difference(r.set.agreement()))
	other := r.set.agreement()
	other.Minimum = "at least 7 members"
	require.Empty(t, r.admission.disagreement(other), "one is up")
	for id, m := range r.table.members {
		m.UpNumber, m.Status = 0, Joining
		r.table.members[id] = m
	}
	require.Contains(t, r.admission.disagreement(other), "set Config.MinMembers")
}
