package understudytest

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/rehearse"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// The name of the file says which build of the program it is, so one file is all builds.
type shop struct {
	*testing.T
	dir string
}

func newShop(t *testing.T) shop {
	t.Helper()
	s := shop{t, t.TempDir()}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", s.build("base"), "./shop")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

func (s shop) build(name string) string { return filepath.Join(s.dir, "shop-"+name) }

// builds makes further builds.
func (s shop) builds(names ...string) {
	s.Helper()
	for _, name := range names {
		require.NoError(s, os.Link(s.build("base"), s.build(name)))
	}
}

// sells lets a build run, and returns its journal.
func (s shop) sells(name string) string {
	s.Helper()
	file := filepath.Join(s.dir, name+".db")
	out, err := exec.CommandContext(s.Context(), s.build(name), file).CombinedOutput() //nolint:gosec // it was built here
	require.NoError(s, err, "%s", out)
	return file
}

func (s shop) rehearse(before, after, journal string, args ...string) (rehearse.Result, result) {
	s.Helper()
	r := runWith(s.T, cli.Env{}, append([]string{"rehearse", "-old", s.build(before), "-new", s.build(after), "-journal", journal, "-json"}, args...)...)
	require.Contains(s, r.errors, "looking for ids")
	return asJSON[rehearse.Result](s.T, r), r
}

func keys(all []rehearse.Finding) (keys []string) {
	for _, f := range all {
		keys = append(keys, f.Key)
	}
	return keys
}

// planted has, for each build with an incompatible change, a problem that must be found.
var planted = map[string]string{
	"renamed-field":           "field:shop.added:Price",
	"meaning-of-zero":         "state:cart:Total",
	"removed-event":           "event:cart:shop.paid",
	"narrower-int":            "event:cart:shop.added",
	"required-field":          "handler:cart:shop.added",
	"id-scheme":               "id:cart",
	"id-gone":                 "id:cart",
	"changed-type":            "event:cart:shop.added",
	"renamed-type":            "event:cart:shop.added",
	"panic-on-old":            "handler:cart:shop.moved",
	"removed-enum":            "state:cart:Items[]",
	"inserted-constant":       "state:cart:Sizes[]",
	"changed-unit":            "state:cart:Total",
	"changed-unit-in-journal": "rollback:shop.added:Price",
	"float-to-int":            "event:cart:shop.added",
	"int-to-float":            "rollback:cart:shop.added",
	"list-to-map":             "event:cart:shop.added",
	"nil-to-value":            "rollback:shop.added:Note",
	"optional-to-mandatory":   "event:cart:shop.added",
	"swapped-array":           "field:shop.moved:X",
	"codec":                   "rollback:cart:shop.added",
	"renamed-message":         "type:shop.ping",
	"message-field":           "field:shop.ping:N",
	"removed-state-field":     "rollback:cart:Discount",
	"computed-state-field":    "stale:cart:Times",
	"durable-type":            "event:settings:shop.settings",
	"durable-narrower":        "event:settings:shop.settings",
	"reply-type":              "field:shop.ask:ReplyTo",
	"removed-tag":             "tags:cart:shop.paid",
	"shards":                  "settings:cart:shards",
	"singleton-settings":      "settings:settings:at least once",
	"renamed-error":           "error:shop.sold-out",
	"schedule-role":           "settings:nightly:role",
	"by-the-clock":            "state:cart:Paid",
}

// Of each harmless change at most notes are made.
var harmless = []string{
	"same", "added-field", "renamed-go-type", "renamed-with-tag", "wider-int", "value-to-pointer", "appended-element",
	"unused-field-removed", "new-event", "case-of-a-field", "embedded-struct", "other-snapshots", "an-adapter", "durable-field",
	"added-tag", "other-buffer", "new-error", "other-buffer-of-schedule",
}

func TestARehearsalFindsWhatWouldBreak(t *testing.T) {
	s := newShop(t)
	s.builds(slices.Collect(maps.Keys(planted))...)
	s.builds(harmless...)
	s.builds("newer-snapshot")
	journal := s.sells("base")
	before, err := os.ReadFile(journal)
	require.NoError(t, err)
	for name, key := range planted {
		res, r := s.rehearse("base", name, journal)
		require.Equal(t, 1, r.code, name)
		require.Contains(t, keys(res.Problems), key, name)
	}
	for _, name := range harmless {
		res, r := s.rehearse("base", name, journal)
		require.Zero(t, r.code, "%s: %s", name, r.out)
		require.Empty(t, res.Problems, name)
		require.Equal(t, []any{4, uint64(13), 0}, []any{res.IDs, res.Events, res.Untried})
	}
	newer, _ := s.rehearse("newer-snapshot", "base", s.sells("newer-snapshot"))
	require.Contains(t, keys(newer.Problems), "snapshot:cart:shop.cart/2")

	random, r := s.rehearse("by-the-clock", "by-the-clock", journal)
	require.Zero(t, r.code, r.out)
	require.Contains(t, keys(random.Notes), "random:cart:Paid")

	accepted, r := s.rehearse("base", "changed-unit", journal, "-accept", "state:cart:Total")
	require.Zero(t, r.code)
	require.Equal(t, []string{"state:cart:Total"}, keys(accepted.Accepted))
	one, _ := s.rehearse("base", "changed-unit", journal, "-id", "cart|2")
	require.Equal(t, 1, one.IDs)
	require.Equal(t, []rehearse.Example{{ID: "cart|2", Path: "Total", Old: "3800", New: "380000"}}, one.Problems[0].Examples)
	few, _ := s.rehearse("base", "same", journal, "-sample", "2")
	require.Equal(t, 2, few.IDs)
	entityOffline(s, journal)
	wrongPrograms(s, journal)

	after, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.Equal(t, before, after, "the journal of the user has been written to")
}

func entityOffline(s shop, journal string) {
	s.Helper()
	offline := func(name string, args ...string) status.Entity {
		return asJSON[status.Entity](s.T, runWith(s.T, cli.Env{}, append([]string{"entity", name, "-program", s.build("base"), "-journal", journal, "-json"}, args...)...))
	}
	e := offline("cart/3", "-events", "5")
	require.Equal(s, "cart|3", e.PersistenceID)
	require.EqualValues(s, 320, e.State.(map[string]any)["Total"])
	require.Len(s, e.Events, 1)
	require.Equal(s, "FR", offline("singleton/settings").State.(map[string]any)["Country"])
	require.EqualValues(s, 1, offline("cart/1", "-at", "1").Seq)
}

func wrongPrograms(s shop, journal string) {
	s.Helper()
	for _, c := range []struct{ before, after, journal, text string }{
		{s.build("base"), journal, journal, "does not call rehearsal.Serve, so it was not started"},
		{s.build("base"), s.build("absent"), journal, "no such file"},
		{s.build("base"), s.build("same"), journal + ".absent", "the journal: stat"},
		{s.build("base"), s.build("same"), s.build("base"), "open the journal: "},
	} {
		r := runWith(s.T, cli.Env{}, "rehearse", "-old", c.before, "-new", c.after, "-journal", c.journal)
		require.Equal(s, 1, r.code)
		require.Contains(s, r.errors, c.text)
	}
	r := runWith(s.T, cli.Env{}, "rehearse", "-old", s.build("base"), "-new", s.build("same"), "-journal", journal, "-id", "cart|1", "-id", "cart/1")
	require.Equal(s, result{1, "", r.errors}, r)
	require.Contains(s, r.errors, `-id: nothing is stored under "cart/1"; say an id as the journal has it`)
	s.builds("unknown")
	r = runWith(s.T, cli.Env{}, "rehearse", "-old", s.build("base"), "-new", s.build("unknown"), "-journal", journal)
	require.Contains(s, r.errors, "its last words: there is no build unknown")
	require.True(s, json.Valid([]byte(runWith(s.T, cli.Env{}, "rehearse", "-old", s.build("base"), "-new", s.build("same"), "-journal", journal, "-json").out)))
}
