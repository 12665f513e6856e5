package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const troubleshooting = "docs/guide/troubleshooting.md"

var (
	errorPackage = regexp.MustCompile(`(?m)^## Package ([\w/]+)$`)
	errorHeading = regexp.MustCompile("(?m)^### (\\w+\\.\\w+)\n((?:`[^`\n]+`\n)+)")
)

// A line below each heading shows the text of the error. For a type of errors the text has … in
// place of what differs.
func TestThePageOfErrorsNamesEveryExportedErrorWithItsText(t *testing.T) {
	shown := errorsOfThePage(t)
	for _, e := range exportedErrors(t) {
		key := e.dir + " " + e.name
		lines, ok := shown[key]
		delete(shown, key)
		switch {
		case !ok:
			t.Errorf("%s has no heading ### %s in a section ## Package %s", troubleshooting, e.name, e.dir)
		case e.pieces == nil && !slices.Equal(lines, []string{e.text}):
			t.Errorf("%s: the text of %s is `%s`, not %q", troubleshooting, e.name, e.text, lines)
		case e.pieces != nil:
			requirePieces(t, e, lines)
		}
	}
	for key := range shown {
		t.Errorf("%s has a heading for %s, which does not exist", troubleshooting, key)
	}
}

// requirePieces requires that the lines consist of texts that the method Error contains.
func requirePieces(t *testing.T, e exportedError, lines []string) {
	t.Helper()
	for _, line := range lines {
		for piece := range strings.SplitSeq(line, "…") {
			if !slices.ContainsFunc(e.pieces, func(p string) bool { return strings.Contains(p, piece) }) && piece != "" {
				t.Errorf("%s: the method Error of %s says %q, and not %q", troubleshooting, e.name, e.pieces, piece)
			}
		}
	}
}

// errorsOfThePage returns the lines of code below each heading, by folder and name of the error.
func errorsOfThePage(t *testing.T) map[string][]string {
	t.Helper()
	text, shown := read(t, troubleshooting), map[string][]string{}
	sections := errorPackage.FindAllStringSubmatchIndex(text, -1)
	for i, at := range sections {
		end := len(text)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		for _, m := range errorHeading.FindAllStringSubmatch(text[at[1]:end], -1) {
			key := text[at[2]:at[3]] + " " + m[1]
			require.NotContains(t, shown, key, "a heading is there twice")
			shown[key] = strings.Split(strings.ReplaceAll(strings.TrimSpace(m[2]), "`", ""), "\n")
		}
	}
	require.NotEmpty(t, sections)
	require.Len(t, shown, strings.Count(text[sections[0][0]:], "\n### "), "each heading of the third level is an error, with its text below")
	return shown
}
