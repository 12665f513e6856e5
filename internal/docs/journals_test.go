package docs

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lawLink matches a link to a check of a suite that every store runs.
var lawLink = regexp.MustCompile("\\[`(\\w+)`\\]\\(([^)]+/(?:journaltest|leasetest|generationtest)/\\w+\\.go)\\)")

// Each of the 104 cases of journals, snapshot stores and leases names a test, a law or a reason.
func TestEveryCaseOfJournalsHasATestOrALawOrAReason(t *testing.T) {
	const document = "docs/contributing/journal-cases.md"
	rows := numbered(t, read(t, document))
	require.Len(t, rows, 104)
	for n := 1; n <= 104; n++ {
		require.True(t, testLink.MatchString(rows[n]) || lawLink.MatchString(rows[n]) || strings.Contains(rows[n], "reason: "), "case %d", n)
	}
	require.Greater(t, requireLaws(t, document), 100)
}

// Each of the 15 cases of event-sourced actors names a test or a law.
func TestEveryCaseOfEventSourcingHasATestOrALaw(t *testing.T) {
	const document = "docs/contributing/event-sourcing-cases.md"
	rows := numbered(t, read(t, document))
	require.Len(t, rows, 15)
	for n, row := range rows {
		require.True(t, testLink.MatchString(row) || lawLink.MatchString(row), "case %d", n)
	}
	require.Greater(t, requireLaws(t, document), 10)
}

// requireLaws checks that the laws that a document names exist, and returns their number.
func requireLaws(t *testing.T, document string) int {
	t.Helper()
	laws := lawLink.FindAllStringSubmatch(read(t, document), -1)
	for _, law := range laws {
		name, file := law[1], path.Join(path.Dir(document), law[2])
		if strings.HasSuffix(file, "_test.go") {
			continue // a test, checked by TestEveryTestThatADocumentNamesExists
		}
		require.Regexp(t, `(?m)^\t\{(name: )?"`+name+`", `, read(t, file), "%s names a law that is not in %s", document, file)
	}
	return len(laws)
}
