package guide_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/walkthrough"
	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var (
	write    = flag.Bool("template", false, "write what the guide shows into examples/template")
	released = flag.Bool("released", false, "type the guide without a clone: the go command finds our modules by its environment")
)

// guide is the pages that build one program, each on the page before.
var guide = []string{"getting-started.md", "testing.md", "kubernetes.md"}

// A reader who types the pages as they are printed has the program of examples/template.
func TestTheGuideCanBeTypedAsItIsPrinted(t *testing.T) {
	s := pgtest.Shared(t)
	if _, err := exec.LookPath("curl"); err != nil {
		needs.Missing(t, "no curl: apt-get install curl")
	}
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	shell, err := walkthrough.Open(t.Context(), dir, "DATABASE_URL="+s.URL())
	require.NoError(t, err)
	defer shell.Close()
	for _, name := range guide {
		page, err := os.ReadFile(filepath.Join(repository, "docs/guide", name))
		require.NoError(t, err)
		text := withClone(string(page), repository)
		if *released {
			text = withoutClone(string(page))
		}
		require.NoError(t, shell.Follow(text, func(step walkthrough.Step) {
			t.Logf("%s:%d %s\n%s", name, step.Line, step.File, step.Text)
		}), name)
	}
	requireTemplate(t, filepath.Join(dir, "shop"), filepath.Join(repository, "examples/template"))
}

// withClone makes this repository the clone. The path has to be its own, for what is built already.
func withClone(page, repository string) string {
	return strings.ReplaceAll(page, "../understudy", repository)
}

// withoutClone does nothing where the page leads the go command to the clone.
func withoutClone(page string) string {
	return regexp.MustCompile(`(?m)^go mod edit -replace=.*$`).ReplaceAllString(page, ":")
}

// requireTemplate compares each file that a page shows with the template, which has further ones.
func requireTemplate(t *testing.T, typed, template string) {
	t.Helper()
	compared := 0
	require.NoError(t, filepath.WalkDir(typed, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(typed, path)
		require.NoError(t, err)
		if entry.IsDir() && name == "vendor" {
			return fs.SkipDir
		}
		switch filepath.Ext(name) {
		case ".go", ".yaml", "":
		default:
			return nil // go.mod, databases, logs
		}
		if entry.IsDir() || name == "shop" {
			return nil
		}
		want, err := os.ReadFile(filepath.Join(template, name))
		require.True(t, err == nil || *write, err)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		if *write {
			want = got
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(template, name)), 0o750))
			require.NoError(t, os.WriteFile(filepath.Join(template, name), got, 0o600))
		}
		require.Equal(t, strings.TrimSpace(string(got)), strings.TrimSpace(string(want)), "%s of the template", name)
		compared++
		return nil
	}))
	require.Greater(t, compared, 8)
}
