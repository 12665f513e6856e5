package handover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletons/directory"
)

func TestHowLongARelayRepeatsARecallDependsOnItsView(t *testing.T) {
	peer := directory.Peer{ID: nodeA}
	reachable := directory.Peer{ID: nodeA, Reachable: true}
	for name, view := range map[string]struct {
		topo    directory.Topology
		repeats map[time.Duration]bool // by how long the messages have waited
	}{
		"a member": {
			topo:    directory.Topology{Members: []directory.Peer{reachable}},
			repeats: map[time.Duration]bool{time.Hour: true},
		},
		"an unreachable member": {
			topo:    directory.Topology{Members: []directory.Peer{peer}},
			repeats: map[time.Duration]bool{50 * time.Millisecond: true, 500 * time.Millisecond: false},
		},
		"a former member that may still be running": {
			topo:    directory.Topology{Gone: []directory.Gone{{Peer: peer}}},
			repeats: map[time.Duration]bool{50 * time.Millisecond: true, 500 * time.Millisecond: false},
		},
		"a member that has left": {
			repeats: map[time.Duration]bool{500 * time.Millisecond: true, time.Second: false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for waited, repeats := range view.repeats {
				r := NewRelay(nil, &Machine{topo: view.topo}, 10)
				r.Redirect(recall.Route{Kind: recall.ToPeer, Peer: nodeA})
				r.Sent()
				require.True(t, r.Buffer.Redirect(recall.Route{Kind: recall.ToPeer, Peer: nodeB}))
				topo := &r.machine.topo
				require.Equal(t, repeats, r.TryAgain(waited, topo.Lost(nodeA), topo.Reachable(nodeA)), "after %v", waited)
				require.Equal(t, repeats, r.Recalling(), "after %v", waited)
			}
		})
	}
}
