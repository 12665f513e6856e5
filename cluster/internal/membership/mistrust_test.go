package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node whose certificate has expired while it was away must not found a second cluster.
func TestANodeThatRejoinsAndIsNotTrustedKeepsAsking(t *testing.T) {
	r := newRig(func(set *Settings) { set.Earlier = []uint64{9} }, "n1:1", "n2:1")
	for range 100 {
		r.happens(DialFailed{Address: "n2:1", Mistrust: "expired"})
		r.wait(time.Second)
	}
	require.Equal(t, phaseJoining, r.phase)
	r.happens(DialFailed{Address: "n2:1", Refused: true})
	require.Equal(t, phaseMember, r.phase, "now it is known that nobody is there")
}
