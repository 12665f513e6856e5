package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const lawsPage = "docs/contributing/laws.md"

var lawRow = regexp.MustCompile("(?m)^\\| \\[`(\\w+)`\\]\\([^)]+\\) \\| .* \\| (.*) \\| (.*) \\| (.*) \\| .* \\|$")

// A law is a row of the page: how much of the test each command runs.
type law struct{ test, verify, long string }

const dash = "—"

func laws(t *testing.T) map[string]law {
	all := map[string]law{}
	for _, m := range lawRow.FindAllStringSubmatch(read(t, lawsPage), -1) {
		require.NotContains(t, all, m[1], "the row is there twice")
		all[m[1]] = law{m[2], m[3], m[4]}
	}
	require.Greater(t, len(all), 50)
	return all
}

// efforts returns which functions of internal/effort each test of the repository calls.
func efforts(t *testing.T) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || parsed.Name.Name == "effort_test" {
				continue
			}
			if calls := effortCalls(f); len(calls) > 0 {
				all[f.Name.Name] = calls
			}
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func effortCalls(f *ast.FuncDecl) map[string]bool {
	calls := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "effort" {
				calls[s.Sel.Name] = true
			}
		}
		return true
	})
	return calls
}

func TestTheListOfHeavyLawsIsThatOfTheTree(t *testing.T) {
	listed, called := laws(t), efforts(t)
	for name, calls := range called {
		row, ok := listed[name]
		switch {
		case !ok:
			t.Errorf("%s takes its count from internal/effort: add a row to %s", name, lawsPage)
		case (calls["Verify"] || calls["Long"]) && row.test != dash, !calls["Verify"] && !calls["Long"] && row.test == dash && !outsideOfMakeTest(t, name):
			t.Errorf("%s: the row says %q of make test, and the code something else", name, row.test)
		case calls["Long"] && row.verify != dash:
			t.Errorf("%s: make verify skips it", name)
		case calls["Unraced"] && (row.test == dash || strings.Contains(row.test+row.verify, "race")):
			t.Errorf("%s: it is skipped under the race detector, so make test must run it", name)
		}
	}
	for name, row := range listed {
		if row.test != dash && outsideOfMakeTest(t, name) {
			t.Errorf("%s: make test leaves its file or its package out, and the row says %q", name, row.test)
		}
		if row.verify == dash && row.test != row.long && !called[name]["Long"] && !called[name]["Unraced"] && called[name] != nil {
			t.Errorf("%s: make verify does not run it", name)
		}
		if raced := inRace(t, name); row.verify != dash && strings.Contains(row.verify, "race") != raced {
			t.Errorf("%s: make verify runs it with the race detector: %t; the row says otherwise", name, raced)
		}
		if row.test != row.verify && row.test != dash && row.verify != dash && called[name] == nil {
			t.Errorf("%s: make test and make verify run the same, and the row says otherwise", name)
		}
	}
}

// fileOf returns the file and the package of a test of the page.
func fileOf(t *testing.T, name string) (file, pkg string) {
	t.Helper()
	link := regexp.MustCompile("\\[`" + name + "`\\]\\(\\.\\./\\.\\./(([^)]+)/[^/]+)\\)").FindStringSubmatch(read(t, lawsPage))
	require.NotNil(t, link, name)
	return link[1], link[2]
}

// outsideOfMakeTest reports whether make test leaves out the file or the package of a test.
func outsideOfMakeTest(t *testing.T, name string) bool {
	t.Helper()
	file, pkg := fileOf(t, name)
	return strings.HasPrefix(read(t, file), "//go:build !quick\n") || !listed(t, pkg, "RACE", "PLAIN")
}

// inRace reports whether make verify runs a test with the race detector.
func inRace(t *testing.T, name string) bool {
	t.Helper()
	file, pkg := fileOf(t, name)
	return !strings.HasPrefix(read(t, file), "//go:build !race\n") && listed(t, pkg, "RACE", "LATER")
}

// listed reports whether a package is in one of the variables of the Makefile.
func listed(t *testing.T, pkg string, names ...string) bool {
	t.Helper()
	for _, name := range names {
		for pattern := range strings.FieldsSeq(makeVariable(t, name)) {
			dir, deep := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			if dir == pkg || deep && strings.HasPrefix(pkg, dir+"/") {
				return true
			}
		}
	}
	return false
}

// A file that one command leaves out belongs to a package that another command tests with it.
func TestEachTestFileRunsSomewhere(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, pkg := read(t, name), filepath.ToSlash(filepath.Dir(name))
		if strings.HasPrefix(text, "//go:build !quick\n") {
			found++
			require.True(t, listed(t, pkg, "LATER", "WHOLE"), "make verify must test %s as a whole", pkg)
		}
		if strings.HasPrefix(text, "//go:build !race\n") && listed(t, pkg, "RACE", "LATER") {
			found++
			require.True(t, listed(t, pkg, "PLAIN", "WHOLE"), "a command must test %s without the race detector", pkg)
		}
		return nil
	}))
	require.Greater(t, found, 20)
}

// makeVariable returns the value of a variable of the Makefile.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + `\s*:= (.*)$`).FindStringSubmatch(read(t, "Makefile"))
	require.NotNil(t, m, name)
	return m[1]
}

// To compile SQLite with the race detector takes a minute.
func TestNothingThatRunsWithTheRaceDetectorLinksSQLite(t *testing.T) {
	args := []string{"list", "-race", "-test", "-deps", "-f", "{{.ImportPath}}"}
	args = append(args, strings.Fields(makeVariable(t, "RACE"))...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, strings.Fields(makeVariable(t, "LATER"))...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "persistence/memory\n")
	require.NotContains(t, string(out), "modernc.org/sqlite\n", "give the test file the build tag !race, and leave its package in PLAIN")
}
