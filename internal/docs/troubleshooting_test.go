package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	troubleshooting = "docs/guide/troubleshooting.md"
	madeOfErrors    = "<!-- What follows is made from the comments in the code: go test ./internal/docs -run PageOfErrors -update -->\n"
)

// shapes are the texts of types of errors, with … in place of what differs.
var shapes = map[string][]string{
	"actor.PanicError":               {"panic: …"},
	"cluster.RefusedError":           {"cluster: refused by …: …"},
	"placement.FieldError":           {"…"},
	"placement.NoEligibleNodesError": {"… for … among …: removed by …"},
	"placement.NotLeaderError":       {"…: no node is elected; start placement on one that the election admits", "…: it is not known yet where it runs: …", "…: it runs on …, which has not answered: …"},
	"persistence.RecoveryError":      {"persistence: recovery of … failed after event …: …"},
	"persistence.RejectedError":      {"persistence: events of … rejected: …"},
	"codec.KeyError":                 {"…: the key … is missing; give it to NewEncryption as a former one"},
	"journal.FencedError":            {"…: …, and it has never been claimed", "…: …, the newest is …, of writer …"},
	"journal.UnreadError":            {"persistence: deleted up to record …; the registered reader … has not read the next one: delete again later, or call projection.Unregister if nobody needs it any more"},
	"projection.EventError":          {"projection: event … of …, at …: …"},
	"remote.RefusedError":            {"remote: refused by …: …: …"},
}

// The second part of the page has each exported error with its text, and with the first paragraph
// of its comment.
func TestThePageOfErrorsIsWhatTheCodeSays(t *testing.T) {
	page := read(t, troubleshooting)
	written, _, found := strings.Cut(page, madeOfErrors)
	require.True(t, found, "the page has a line %q", madeOfErrors)
	var b strings.Builder
	b.WriteString(written + madeOfErrors)
	dir := ""
	for _, e := range exportedErrors(t) {
		if e.dir != dir {
			dir = e.dir
			fmt.Fprintf(&b, "\n## %s\n", dir)
		}
		fmt.Fprintf(&b, "\n### %s\n", e.name)
		for _, text := range e.texts(t) {
			b.WriteString("`" + text + "`\n")
		}
		b.WriteString("\n" + e.advice(t) + "\n")
	}
	if t.Failed() {
		return
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, troubleshooting), []byte(b.String()), 0o644))
		return
	}
	if b.String() != page {
		t.Errorf("%s differs from the comments of the errors; go test ./internal/docs -run PageOfErrors -update writes it", troubleshooting)
	}
}

// texts returns what the error says. The texts of a type are pieces of its method Error.
func (e exportedError) texts(t *testing.T) []string {
	t.Helper()
	if e.pieces == nil {
		return []string{e.text}
	}
	if len(shapes[e.name]) == 0 {
		t.Errorf("shapes has no text of %s", e.name)
	}
	for _, text := range shapes[e.name] {
		for piece := range strings.SplitSeq(text, "…") {
			if !slices.ContainsFunc(e.pieces, func(p string) bool { return strings.Contains(p, piece) }) && piece != "" {
				t.Errorf("the method Error of %s says %q, and not %q", e.name, e.pieces, piece)
			}
		}
	}
	return shapes[e.name]
}

// advice returns the first paragraph of the comment: what the error means, and what to do.
func (e exportedError) advice(t *testing.T) string {
	t.Helper()
	first, _, _ := strings.Cut(e.doc, "\n\n")
	text := strings.Join(strings.Fields(first), " ")
	_, name, _ := strings.Cut(e.name, ".")
	if rest, ok := strings.CutPrefix(text, name+": "); ok {
		text = strings.ToUpper(rest[:1]) + rest[1:]
	} else if e.pieces == nil {
		t.Errorf("the comment of %s must begin with %q", e.name, name+": ")
	}
	return markdown(text)
}
