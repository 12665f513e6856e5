package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry is a row of a table of docs/README.md.
type entry struct{ section, target, text string }

var (
	section = regexp.MustCompile(`^## (.+)\n$`)
	row     = regexp.MustCompile(`^\| [^|]*\[[^\]]+\]\(([^)]+)\)[^|]* \| (.+) \|\n$`)
)

// index returns the rows of the tables of docs/README.md.
func index(t *testing.T) []entry {
	t.Helper()
	var all []entry
	current := ""
	for line := range strings.Lines(read(t, "docs/README.md")) {
		if m := section.FindStringSubmatch(line); m != nil {
			current = m[1]
		}
		if m := row.FindStringSubmatch(line); m != nil {
			all = append(all, entry{current, path.Join("docs", m[1]), m[2]})
		}
	}
	return all
}

// The site has its sidebar from the same tables: docs/.vitepress/pages.mts.
func TestTheIndexNamesEveryPage(t *testing.T) {
	named := map[string]int{"docs/README.md": 1, "docs/releasing.md": 1, "docs/decisions.md": 1} // the index, and pages that text below the tables names
	for _, e := range index(t) {
		named[e.target]++
	}
	for _, document := range documents(t) {
		if dir := path.Dir(document); dir == "docs" || dir == "docs/guide" && path.Base(document) != "README.md" {
			require.Equal(t, 1, named[document], "the tables of docs/README.md must name %s, once", document)
		}
	}
}

const raw = "https://raw.githubusercontent.com/understudy-go/understudy/main/"

// llms returns docs/llms.txt, as https://llmstxt.org says.
func llms(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Understudy\n\n> Understudy is a typed actor framework for Go, for one process or a cluster. " +
		"It has singletons that move between nodes, sharded entities, event sourcing, projections, timers, reliable delivery and leases.\n\n" +
		"The module is `github.com/understudy-go/understudy`. `go doc -all` of a package has its API. " +
		"The glossary defines the words that the pages use in a sense of their own.\n")
	current := ""
	for _, e := range index(t) {
		if e.section != current {
			current = e.section
			b.WriteString("\n## " + current + "\n\n")
		}
		b.WriteString("- [" + titleOf(t, e.target) + "](" + raw + e.target + "): " + e.text + "\n")
	}
	return b.String()
}

// titleOf returns the first heading of a page, or the name of a package.
func titleOf(t *testing.T, target string) string {
	t.Helper()
	if path.Ext(target) != ".md" {
		return "Package " + path.Base(path.Dir(target))
	}
	m := heading.FindStringSubmatch(read(t, target))
	require.NotNil(t, m, target)
	return m[1]
}

func TestTheListForLanguageModelsHasEveryPageOfTheIndex(t *testing.T) {
	want := llms(t)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, "docs/llms.txt"), []byte(want), 0o600))
	}
	require.Equal(t, want, read(t, "docs/llms.txt"), "go test ./internal/docs -run LanguageModels -update writes it")
}
