package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/golden"
)

func TestSpecsInTheJournalAreRead(t *testing.T) {
	spec := Spec{
		Label: "disk-1", Type: "storage-agent", State: []byte{0xa1, 0x61, 'n', 7}, OnCrash: WaitForReturn(time.Minute),
		Constraints: Constraints{
			Roles: []string{"storage"}, Meta: map[string]string{"zone": "a"}, AntiAffinity: []string{"disk-2"},
			ColocateWith: "cache-1", RequiredNode: "node-1",
		},
	}
	data := golden.Hex(t, "spec", func() []byte { return home.Encode(spec) })
	require.Equal(t, home.Encode(spec), data)
	require.Equal(t, spec, home.Decode[Spec](data))

	single := SingletonSpec{Label: "one", Type: "counter", State: []byte{7}, Anchor: Anchor{Kind: AnchorRole, Name: "db"}, DrainTimeout: time.Minute}
	data = golden.Hex(t, "singleton-spec", func() []byte { return home.Encode(single) })
	require.Equal(t, home.Encode(single), data)
	require.Equal(t, single, home.Decode[SingletonSpec](data))
}
