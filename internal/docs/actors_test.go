package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row of the cases of actors names a test or a reason.
func TestEveryCaseOfActorsHasATestOrAReason(t *testing.T) {
	rows := numbered(t, read(t, "docs/contributing/actor-cases.md"))
	require.Greater(t, len(rows), 90)
	for n := range rows {
		mustCover(t, rows, [][2]int{{n, n}})
	}
}
