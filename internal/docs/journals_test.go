package docs

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lawLink leads to a law of a suite that every store runs.
var lawLink = regexp.MustCompile("\\[`(\\w+)`\\]\\(([^)]+/(?:journaltest|leasetest)/\\w+\\.go)\\)")

// The 104 cases of journals, snapshot stores and leases.
func TestEveryCaseOfJournalsHasATestOrALawOrAReason(t *testing.T) {
	const document = "docs/journal-cases.md"
	rows := numbered(t, read(t, document))
	require.Len(t, rows, 104)
	for n := 1; n <= 104; n++ {
		require.True(t, testLink.MatchString(rows[n]) || lawLink.MatchString(rows[n]) || strings.Contains(rows[n], "reason: "), "case %d", n)
	}
	laws := lawLink.FindAllStringSubmatch(read(t, document), -1)
	require.Greater(t, len(laws), 100)
	for _, law := range laws {
		name, file := law[1], path.Join(path.Dir(document), law[2])
		if strings.HasSuffix(file, "_test.go") {
			continue // a test, which others look for
		}
		require.Regexp(t, `(?m)^\t\{(name: )?"`+name+`", `, read(t, file), "%s names a law that is not in %s", document, file)
	}
}
