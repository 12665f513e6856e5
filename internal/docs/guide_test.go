package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snippetFence matches a block of Go, or of what a program prints, in a page. The comment in the
// line before it names the file that it is from.
var snippetFence = regexp.MustCompile("(?ms)^(?:<!-- (\\S+) -->\n)?```(go|text)( \\S+)?\n(.*?)^```$")

// Each piece of Go in the guide and the README is a file that a test of internal/lab/guide types,
// or a part of a file that is compiled. A comment above the piece names that file. What a program
// prints may have such a comment, too: it is a part of the output that a test expects. A page that
// names the file of one output names those of all. The other pages are checked if they name the
// file of one piece: then they name those of all.
func TestEverySnippetOfTheGuideIsCompiled(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/guide/*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	topics, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	require.NoError(t, err)
	for _, page := range topics {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if strings.Contains(string(text), " -->\n```go\n") {
			pages = append(pages, page)
		}
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		page, err := filepath.Rel(root, page)
		require.NoError(t, err)
		text := read(t, page)
		namesOutputs := strings.Contains(text, " -->\n```text\n")
		for _, snippet := range snippetFence.FindAllStringSubmatch(text, -1) {
			source, language, mark, code := snippet[1], snippet[2], snippet[3], snippet[4]
			switch {
			case strings.HasPrefix(mark, " file="), language == "text" && !namesOutputs:
			case source == "":
				t.Errorf("%s: no comment above this names the file that it is from:\n%s", page, code)
			case !strings.Contains(unindented(read(t, source)), unindented(code)):
				t.Errorf("%s: this is not in %s:\n%s", page, source, code)
			}
		}
	}
}

var (
	runsExample = regexp.MustCompile(`(?m)^go run \./(examples/\w+)$`)
	output      = regexp.MustCompile(`(?s)// Output:\n(.*?)\n}`)
)

// A section about an example shows all that the example prints.
func TestTheGuideShowsWhatEachExamplePrints(t *testing.T) {
	shown := 0
	for section := range strings.SplitSeq(read(t, "docs/guide/examples.md"), "\n## ") {
		run := runsExample.FindStringSubmatch(section)
		if run == nil {
			continue
		}
		expected := output.FindStringSubmatch(read(t, run[1]+"/main_test.go"))
		if expected == nil {
			continue
		}
		shown++
		var texts []string
		for _, snippet := range snippetFence.FindAllStringSubmatch(section, -1) {
			if snippet[2] == "text" {
				texts = append(texts, unindented(snippet[4]))
			}
		}
		require.Equal(t, []string{unindented(expected[1])}, texts, run[1])
	}
	require.GreaterOrEqual(t, shown, 3)
}

func TestTheGuideListsEachExample(t *testing.T) {
	page := read(t, "docs/guide/examples.md")
	for _, dir := range packages(t) {
		if strings.HasPrefix(dir, "examples/") {
			mustSay(t, page, dir)
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
