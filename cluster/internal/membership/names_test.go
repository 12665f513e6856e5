package membership

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoWantsToJoinUnderABadNameIsRefusedWithAReason(t *testing.T) {
	r := newRig(nil)
	for name, complaint := range map[string]string{
		"a\xff":                  "is not UTF-8",
		"a\nb":                   "has the control character U+000A",
		strings.Repeat("x", 256): "has 256 bytes, the limit is 255",
	} {
		if strings.Contains(name, "\xff") {
			continue // it is no message
		}
		a := r.asks(id("n2:1", 2), joinRequest{Name: name})
		require.Equal(t, refused, a.Verdict)
		require.Contains(t, a.Reason, complaint)
	}
}
