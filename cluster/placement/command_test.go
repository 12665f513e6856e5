package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
)

// A spec with every field set, one without the optional ones, and one without anything come back
// from the wire.
func TestARequestComesBackFromTheWire(t *testing.T) {
	every := Spec{
		Label: "storage/photos", Type: "agent", State: []byte{0, 255, 'x'}, OnCrash: WaitForReturn(30*time.Second + 1),
		Constraints: Constraints{
			Roles: []string{"worker", "gpu"}, Meta: map[string]string{"volume": "photos", "": ""},
			AntiAffinity: []string{"db/primary", "db/replica"}, ColocateWith: "writer/c1", RequiredNode: "store-a",
		},
	}
	optional := every
	optional.Constraints.ColocateWith, optional.Constraints.RequiredNode = "", ""
	for _, s := range []Spec{every, optional, {Label: "a", Type: "b"}} {
		p, err := extension.Pack(request{Op: opSubmit, Spec: &s})
		require.NoError(t, err)
		back, err := extension.Unpack(nil, p)
		require.NoError(t, err)
		require.True(t, s.Equal(*back.(request).Spec), "%+v and %+v", s, back)
		require.Equal(t, s.Constraints.ColocateWith, back.(request).Spec.Constraints.ColocateWith)
		require.Equal(t, s.Constraints.RequiredNode, back.(request).Spec.Constraints.RequiredNode)
	}
}
