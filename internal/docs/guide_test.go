package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goFence matches a block of Go in a page, with the comment in the line before it, if there is one.
var goFence = regexp.MustCompile("(?ms)^(?:<!-- (\\S+) -->\n)?```go( file=\\S+)?\n(.*?)^```$")

// Each piece of Go in the guide and the README is a file that a test of persistence/postgres types in, or a part
// of a file that is compiled. A comment above the piece names that file.
func TestEverySnippetOfTheGuideIsCompiled(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/guide/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		page, err := filepath.Rel(root, page)
		require.NoError(t, err)
		for _, snippet := range goFence.FindAllStringSubmatch(read(t, page), -1) {
			source, typed, code := snippet[1], snippet[2] != "", snippet[3]
			switch {
			case typed:
			case source == "":
				t.Errorf("%s: no comment above this names the file that it is from:\n%s", page, code)
			case !strings.Contains(unindented(read(t, source)), unindented(code)):
				t.Errorf("%s: this is not in %s:\n%s", page, source, code)
			}
		}
	}
}

// unindented returns the lines of a text without spaces and comment marks at their beginnings.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")) + "\n")
	}
	return b.String()
}
