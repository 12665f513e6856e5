package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
