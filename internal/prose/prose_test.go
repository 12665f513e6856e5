package prose_test

import (
	"cmp"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/prose"
)

var findings = flag.Bool("findings", false, "log every finding")

func TestEachRuleFindsItsPattern(t *testing.T) {
	for text, rule := range map[string]string{
		"A node who is cut off stops.":              "who without a noun",
		"It says so to who asks.":                   "who without a noun",
		"The deadline is that of the parent.":       "that of",
		"Its lease is none.":                        "is none",
		"It is Leave but for Leaving.":              "but for",
		"It keeps what is told to it.":              "what as a noun",
		"Nothing is sent, nor is it kept.":          "nor and inversion",
		strings.Repeat("word ", 41) + ".":           "sentence over 40 words",
		"Short enough. " + strings.Repeat("w ", 41): "sentence over 40 words",
	} {
		var rules []string
		for _, f := range prose.CheckMarkdown("page.md", []byte(text)) {
			rules = append(rules, f.Rule)
		}
		require.Equal(t, []string{rule}, rules, text)
	}
}

func TestWhatReadsWellIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		"A node that is partitioned stops.",
		"Users who need more set Config.Limit.",
		"Who may call this function?",
		"```\nwho is none, but for that of\n```",
		"Write `who is none` to see it.",
		"| " + strings.Repeat("w ", 30) + "| " + strings.Repeat("w ", 30) + "|",
	} {
		require.Empty(t, prose.CheckMarkdown("page.md", []byte(text)), text)
	}
}

func TestCommentsOfGoFilesAreChecked(t *testing.T) {
	source := "// Package p is a package.\npackage p\n\n// F asks who\n// listens.\n//\n//\tcode for who reads\nfunc F() {} // " +
		"\n\n// " + strings.Repeat("wide ", 21) + "\nvar _ = `who`\n"
	found, err := prose.CheckGo("p.go", []byte(source))
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, prose.Finding{File: "p.go", Line: 4, Rule: "who without a noun", Text: "F asks who listens."}, found[0])
	require.Equal(t, "line over 100 columns", found[1].Rule)
	require.Equal(t, 10, found[1].Line)
}

func TestAFileThatIsNotGoIsAnError(t *testing.T) {
	_, err := prose.CheckGo("p.go", []byte("not Go"))
	require.ErrorContains(t, err, "p.go:1:1")
}

// limits are how many findings of each rule the repository may have.
var limits = map[string]int{
	"who without a noun":     1,
	"that of":                0,
	"is none":                3,
	"but for":                0,
	"what as a noun":         0,
	"nor and inversion":      0,
	"sentence over 40 words": 4,
	"line over 100 columns":  0,
}

func TestTheRepositoryReadsWell(t *testing.T) {
	const root = "../.."
	var found []prose.Finding
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "dist") {
			return filepath.SkipDir
		}
		more, err := checkFile(root, path)
		found = append(found, more...)
		return err
	}))
	counts := map[string]int{}
	folders := map[string]int{}
	for _, f := range found {
		counts[f.Rule]++
		folders[filepath.Dir(f.File)]++
		if *findings {
			t.Logf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Text)
		}
	}
	if *findings {
		for _, folder := range slices.SortedFunc(maps.Keys(folders), func(a, b string) int { return cmp.Compare(folders[b], folders[a]) }) {
			t.Logf("%5d in %s", folders[folder], folder)
		}
	}
	for _, rule := range prose.RuleNames() {
		t.Logf("%5d of at most %d: %s", counts[rule], limits[rule], rule)
		require.LessOrEqual(t, counts[rule], limits[rule], "%s: make prose lists the places", rule)
	}
}

func checkFile(root, path string) ([]prose.Finding, error) {
	ext := filepath.Ext(path)
	if ext != ".go" && ext != ".md" {
		return nil, nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	if ext == ".md" {
		return prose.CheckMarkdown(name, source), nil
	}
	return prose.CheckGo(name, source)
}
