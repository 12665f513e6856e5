package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

// mustSay is require.Contains without printing the whole document.
func mustSay(t *testing.T, document, what string) {
	t.Helper()
	if !strings.Contains(document, what) {
		t.Errorf("the document does not say %q", what)
	}
}

func TestEveryInternalPackageSaysWhatItIs(t *testing.T) {
	for _, dir := range packages(t) {
		if name, doc := packageClause(t, dir); isInternal(dir) && name != "" {
			require.NotEmpty(t, doc, "%s has no package comment, which make packages prints", dir)
		}
	}
}

func TestTheArchitectureNamesWhatIsThere(t *testing.T) {
	for _, m := range regexp.MustCompile("`([a-z_]+/[a-z_/]*[a-z_](?:\\.go)?)`").FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1) {
		if m[1] == "testing/synctest" {
			continue
		}
		_, err := os.Stat(filepath.Join(root, m[1]))
		require.NoError(t, err, "ARCHITECTURE.md names %s", m[1])
	}
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(root, dir, "go.mod"))
	return err == nil
}

func isInternal(dir string) bool { return strings.Contains("/"+dir, "/internal/") }

// packages returns the directories below the root that contain Go files.
func packages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, filepath.ToSlash(dir))
		}
		return err
	})
	require.NoError(t, err)
	return dirs
}
