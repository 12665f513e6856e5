package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each case of placement names a test, a law or a reason.
func TestEveryCaseOfPlacementHasATestOrALawOrAReason(t *testing.T) {
	const document = "docs/contributing/placement-cases.md"
	rows := numbered(t, read(t, document))
	require.Len(t, rows, 188+9)
	for _, span := range [][2]int{{1, 188}, {328, 336}} {
		for n := span[0]; n <= span[1]; n++ {
			require.True(t, testLink.MatchString(rows[n]) || lawLink.MatchString(rows[n]) || strings.Contains(rows[n], "reason: "), "case %d", n)
		}
	}
	require.Greater(t, requireLaws(t, document), 15)
}
