package docs

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		if strings.Contains(text, "effort.Unraced(t)") {
			found++
			quick := !strings.HasPrefix(text, "//go:build !quick\n") && listed(t, pkg, "PLAIN")
			require.True(t, quick || listed(t, pkg, "WHOLE"), "a command must run %s without the race detector", name)
		}
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
	require.Contains(t, string(out), "persistence/journal\n")
	require.NotContains(t, string(out), "modernc.org/sqlite\n", "give the test file the build tag !race, and leave its package in PLAIN")
}
