package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	numberedRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*$`)
	testLink    = regexp.MustCompile("\\[`((?:Test|Fuzz)\\w+)`\\]\\(([^)]+)\\)")
)

// numbered returns the table rows of a text that begin with a number, by that number.
func numbered(t *testing.T, text string) map[int]string {
	t.Helper()
	rows := map[int]string{}
	for _, m := range numberedRow.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.NotContains(t, rows, n, "the row is there twice")
		rows[n] = m[0]
	}
	return rows
}

// testsOf returns the names of the tests in a file.
func testsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	require.True(t, strings.HasSuffix(file, "_test.go"), file)
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			names[f.Name.Name] = true
		}
	}
	return names
}

func TestEveryScenarioHasATestAtEachOfItsLevelsOrAReason(t *testing.T) {
	scenarios, _, found := strings.Cut(read(t, "docs/contributing/scenarios.md"), "\n## ")
	require.True(t, found)
	rows := numbered(t, scenarios)
	require.Len(t, rows, 63)
	for n := 1; n <= 63; n++ {
		cells := strings.Split(rows[n], " | ")
		require.Len(t, cells, 5, "scenario %d: number, what, levels, bound, tests", n)
		require.NotEmpty(t, cells[2], "scenario %d", n)
		for level := range strings.FieldsSeq(cells[2]) {
			require.True(t, strings.Contains(cells[4], level+": [") || strings.Contains(cells[4], "reason: ") ||
				level == "P" && strings.Contains(cells[4], "P: `make nemesis`"), "scenario %d has no test at level %s, and no reason", n, level)
		}
		require.Equal(t, levelsOf(cells[4]), cells[2], "scenario %d: the levels are those of its tests", n)
	}
}

// levelsOf returns the levels at which a cell names tests, in the order D, S, P.
func levelsOf(tests string) string {
	var levels []string
	for _, level := range []string{"D", "S", "P"} {
		if strings.HasPrefix(tests, level+": ") || strings.Contains(tests, "<br>"+level+": ") {
			levels = append(levels, level)
		}
	}
	return strings.Join(levels, " ")
}

func TestEveryCaseHasATestOrAReason(t *testing.T) {
	_, cases, found := strings.Cut(read(t, "docs/contributing/scenarios.md"), "\n## Cases of")
	require.True(t, found)
	rows := numbered(t, cases)
	mustCover(t, rows, [][2]int{{145, 181}, {209, 220}})
}

// mustCover requires a test or a reason in each row of the spans, both ends included.
func mustCover(t *testing.T, rows map[int]string, spans [][2]int) {
	t.Helper()
	for _, span := range spans {
		for n := span[0]; n <= span[1]; n++ {
			require.True(t, testLink.MatchString(rows[n]) || strings.Contains(rows[n], "reason: "), "case %d", n)
		}
	}
}
