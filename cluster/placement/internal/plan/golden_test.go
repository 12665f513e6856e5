package plan

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/golden"
)

func TestFactsAndLedgersOfAllVersionsAreRead(t *testing.T) {
	placed := record{
		Spec: Spec{
			Label: "disk-1", Type: "storage-agent", State: []byte{0xa1, 0x61, 'n', 7}, OnCrash: WaitForReturn(time.Minute),
			Constraints: Constraints{
				Roles: []string{"storage"}, Meta: map[string]string{"zone": "a"}, AntiAffinity: []string{"disk-2"},
				ColocateWith: "cache-1", RequiredNode: "node-1",
			},
		},
		Node: "node-1", Incarnation: 4, Request: home.RequestID{Epoch: 1 << 32, N: 9}, Drained: true, Removed: true,
		Until: time.Date(2026, 11, 25, 12, 30, 0, 5, time.UTC),
	}
	owned := singletonRecord{
		Spec:  SingletonSpec{Label: "one", Type: "counter", State: []byte{7}, Anchor: Anchor{Kind: AnchorRole, Name: "db"}, DrainTimeout: time.Minute},
		Owner: "node-1", Granted: Generation{Term: 4}, Node: "node-2", Incarnation: 5, Request: home.RequestID{Epoch: 7, N: 1}, Generation: Generation{Term: 3, Seq: 1},
	}
	golden.Values(t,
		Fact{Label: "disk-1", Record: &placed},
		Ledger{
			Specs: map[string]record{"disk-1": placed}, Singletons: map[string]singletonRecord{"one": owned},
			News: []Fact{{Label: "one", Singleton: &singletonRecord{Granted: Generation{Term: 5}, Stopped: true}}, {Label: "gone"}},
		},
	)
}
