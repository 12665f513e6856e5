package recall

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllMessagesOfASenderGoBackBehindOneThatDidUntilItRecallsThem(t *testing.T) {
	var r Returns[int]
	r.Recalled(1, 1)
	require.False(t, r.Due(1))
	r.Note(1)
	require.True(t, r.Due(1))
	require.False(t, r.Due(2))
	r.Recalled(1, 1)
	require.True(t, r.Due(1), "a repeated recall was sent earlier")
	r.Recalled(1, 2)
	require.False(t, r.Due(1))
	r.Note(1)
	r.Keep(func(int) bool { return false })
	require.False(t, r.Due(1))
}
