package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/golden"
)

func TestFactsLedgersAndSpecsOfAllVersionsAreRead(t *testing.T) {
	placed := record{
		Spec: Spec{
			Label: "disk-1", Type: "storage-agent", State: []byte{0xa1, 0x61, 'n', 7}, OnCrash: WaitForReturn(time.Minute),
			Constraints: Constraints{
				Roles: []string{"storage"}, Meta: map[string]string{"zone": "a"}, AntiAffinity: []string{"disk-2"},
				ColocateWith: "cache-1", RequiredNode: "node-1",
			},
		},
		Node: "node-1", Incarnation: 4, Request: hosting.RequestID{Epoch: 1 << 32, N: 9}, Drained: true, Removed: true,
		Until: time.Date(2026, 11, 25, 12, 30, 0, 5, time.UTC),
	}
	owned := record{Node: "node-2", Generation: Generation{Term: 3, Seq: 1}, Granted: Generation{Term: 4}, Call: hosting.RequestID{Epoch: 7, N: 1}}
	golden.Values(t,
		Fact{Label: "disk-1", Record: &placed},
		Ledger{Base: map[string]record{"disk-1": placed}, News: []Fact{{Label: "one", Record: &owned}, {Label: "gone"}}},
		SingletonSpec{Label: "one", Type: "counter", State: []byte{7}, Anchor: Anchor{Kind: AnchorRole, Name: "db"}, DrainTimeout: time.Minute},
	)
}

func TestAStoredSingletonSpecSaysItsVersion(t *testing.T) {
	spec := SingletonSpec{Label: "one", Type: "counter", Anchor: Leader()}
	data, err := EncodeSingletonSpec(spec)
	require.NoError(t, err)
	got, err := DecodeSingletonSpec(data)
	require.NoError(t, err)
	require.Equal(t, spec.Label, got.Label)
	require.Equal(t, spec.Type, got.Type)

	newer, err := codec.Marshal([]any{"understudy/placement.singleton-spec/2", []byte{0x80}})
	require.NoError(t, err)
	_, err = DecodeSingletonSpec(newer)
	require.ErrorContains(t, err, `no type is registered as "understudy/placement.singleton-spec/2" here, only "understudy/placement.singleton-spec/1"`)

	other, err := codec.Marshal([]any{"understudy/placement.fact/1", []byte{0x82, 0x61, 'x', 0xf6}})
	require.NoError(t, err)
	_, err = DecodeSingletonSpec(other)
	require.ErrorContains(t, err, "understudy/placement.fact/1")
	_, err = DecodeSingletonSpec([]byte{0xff})
	require.Error(t, err)
}
