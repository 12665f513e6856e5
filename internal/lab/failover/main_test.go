package failover

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachRunCountsUnderAnIDOfItsOwn(t *testing.T) {
	first, second := newID(), newID()
	require.NotEqual(t, first, second)
}
