package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each case of singletons names a test or a reason.
func TestEveryCaseOfSingletonsHasATestOrAReason(t *testing.T) {
	rows := numbered(t, read(t, "docs/contributing/singleton-cases.md"))
	mustCover(t, rows, [][2]int{{1, 15}, {88, 144}, {167, 188}, {247, 307}})
}

// Each row of the table of messages names a test.
func TestEverySituationOfAMessageNamesItsTest(t *testing.T) {
	_, section, found := strings.Cut(read(t, "docs/singleton.md"), "\n## What becomes of a message\n")
	require.True(t, found)
	section, _, found = strings.Cut(section, "\n## ")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| situation") {
			continue
		}
		rows++
		require.Regexp(t, testLink, line)
	}
	require.Greater(t, rows, 15)
}
