package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The cases of actors: each row that is there has a test, or a reason why it has none.
func TestEveryCaseOfActorsHasATestOrAReason(t *testing.T) {
	rows := numbered(t, read(t, "docs/contributing/actor-cases.md"))
	require.Greater(t, len(rows), 90)
	for n := range rows {
		mustCover(t, rows, [][2]int{{n, n}})
	}
}
