package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row of the table of changes names a test.
func TestEveryChangeOfAStoredTypeNamesItsTest(t *testing.T) {
	_, section, found := strings.Cut(read(t, "docs/event-sourcing.md"), "\n## Changes of a type\n")
	require.True(t, found)
	section, _, found = strings.Cut(section, "\n## ")
	require.True(t, found)
	claims := 0
	for line := range strings.Lines(section) {
		row := strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| change")
		if row || strings.HasPrefix(line, "- ") {
			claims++
			require.Regexp(t, testLink, line)
		}
	}
	require.Greater(t, claims, 15)
}
