package understudytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/rehearse"
	"github.com/understudy-go/understudy/cmd/understudy/internal/roll"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/effort"
)

// A bank has the builds of a program, and its journal.
type bank struct {
	*testing.T
	dir, journal string
}

const bankLine = "BANK_NODE_ID={name} BANK_BIND={node} BANK_SEEDS={seeds} {program} -http {http} -journal {journal}"

func newBank(t *testing.T) bank {
	t.Helper()
	b := bank{t, t.TempDir(), ""}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", b.build("base"), "./bank").CombinedOutput() //nolint:gosec // of the test
	require.NoError(t, err, "%s", out)
	b.journal = filepath.Join(b.dir, "bank.db")
	require.NoError(t, os.WriteFile(b.journal, nil, 0o600))
	return b
}

func (b bank) build(name string) string { return filepath.Join(b.dir, "bank-"+name) }

// each updates a cluster of the base to a build, and rolls it back, while others do.
func (b bank) each(name string, args []string, check func(b bank, res rehearse.Result, r result)) {
	b.Run(name, func(t *testing.T) {
		t.Parallel()
		b := bank{t, b.dir, b.journal}
		require.NoError(t, os.Link(b.build("base"), b.build(name)))
		r := runWith(t, cli.Env{}, append([]string{
			"rehearse", "-old", b.build("base"), "-new", b.build(name), "-journal", b.journal, "-json",
			"-roll", bankLine, "-load", "PUT http://{http}/accounts/{n}", "-settle", "8s",
		}, args...)...)
		check(b, asJSON[rehearse.Result](t, r), r)
	})
}

func stepsOf(res rehearse.Result) (names []string, fine []bool) {
	for _, s := range res.Steps {
		names, fine = append(names, s.Name), append(fine, s.OK)
	}
	return names, fine
}

var (
	whole = []string{"start the old build", "update n3", "update n2", "update n1", "roll n1 back", "roll n2 back", "roll n3 back", "stop all"}
	first = []string{"start the old build", "update n3", "roll n3 back", "stop all"}
)

// What is planted is found in the first node that is updated, which is rolled back.
var plantedInRoll = map[string]string{
	"crash":       "roll:ended",
	"never-ready": "roll:silent",
	"shards":      "roll:shards:account",
	"role":        "roll:mismatch:ledger",
	"refuse":      "roll:load",
	"own-format":  "roll:dead letters:message cannot be decoded",
	"log":         "roll:log:no interest today",
}

func TestARollFindsWhatTheDataDoesNotShow(t *testing.T) {
	effort.Verify(t)
	b := newBank(t)
	before, err := os.ReadFile(b.journal)
	require.NoError(t, err)
	t.Run("builds", func(t *testing.T) { // which have ended before the journal is read again
		b := bank{t, b.dir, b.journal}
		b.each("same", nil, passes)
		b.each("renamed-event", []string{"-settle", "3s", "-nodes", "2"}, endsAtTheLastNode)
		b.each("exit-code", []string{"-accept", "roll:log:no interest today", "-load", "sleep 600"}, isAccepted)
		for name, key := range plantedInRoll {
			b.each(name, []string{"-settle", "5s"}, func(b bank, res rehearse.Result, r result) { b.fails(res, r, key) })
		}
	})
	after, err := os.ReadFile(b.journal)
	require.NoError(t, err)
	require.Equal(t, before, after, "the journal of the user has been written to")
}

// What fails with the old build alone is no fault of the new one.
func TestARollThatTheOldBuildDoesNotStandIsRefused(t *testing.T) {
	effort.Verify(t)
	b := newBank(t)
	require.NoError(t, os.Link(b.build("base"), b.build("same")))
	for want, args := range map[string][]string{
		"-load: it fails against the old build by itself, so nothing was rolled: ":       {"-load", "GET http://{http}/nothing"},
		"and must run until SIGTERM. its process has ended (exit status 1)":              {"-load", "false"},
		"does not run with the line of -roll: n1: its process has ended (exit status 2)": {"-roll", bankLine + " -htp 7"},
	} {
		r := runWith(t, cli.Env{}, append([]string{
			"rehearse", "-old", b.build("base"), "-new", b.build("same"), "-journal", b.journal, "-settle", "8s", "-nodes", "2", "-roll", bankLine,
		}, args...)...)
		require.Equal(t, 1, r.code)
		require.Contains(t, r.errors, want)
		require.NotContains(t, r.errors, "roll: update")
		require.Equal(t, args[0] == "-roll", strings.Contains(r.errors, "flag provided but not defined: -htp"), r.errors)
	}
}

func passes(b bank, res rehearse.Result, r result) {
	require.Zero(b, r.code, r.out)
	require.True(b, res.OK)
	names, fine := stepsOf(res)
	require.Equal(b, whole, names)
	require.NotContains(b, fine, false, r.out)
	require.Equal(b, []string{"base"}, res.Steps[0].Versions)
	require.Equal(b, []string{"base", "same"}, res.Steps[2].Versions)
	require.Equal(b, []string{"same"}, res.Steps[3].Versions)
	require.Positive(b, res.Requests)
}

// The ledger moves to a node of the new build when the last old one leaves.
func endsAtTheLastNode(b bank, res rehearse.Result, r result) {
	require.Equal(b, 1, r.code)
	require.Contains(b, keys(res.Problems), "roll:crash loop:ledger")
	names, fine := stepsOf(res)
	require.Equal(b, []string{"start the old build", "update n2", "update n1", "roll n1 back", "roll n2 back", "stop all"}, names)
	require.Equal(b, []bool{true, true, false}, fine[:3], r.out)
}

// What is accepted does not stop the update, and other problems are found.
func isAccepted(b bank, res rehearse.Result, r result) {
	require.Equal(b, 1, r.code)
	require.Equal(b, []string{"roll:log:no interest today"}, keys(res.Accepted))
	require.Equal(b, []string{"roll:exit"}, keys(res.Problems))
	require.Contains(b, r.out, "n1: at SIGTERM its process has ended (exit status 3); it has printed:")
	require.Contains(b, r.out, "cannot save the draft")
	names, _ := stepsOf(res)
	require.Equal(b, whole, names)
	require.Equal(b, []string{"roll:log:no interest today"}, res.Steps[1].Problems)
	require.Contains(b, res.Steps[4].Problems, "roll:exit")
}

func (b bank) fails(res rehearse.Result, r result, key string) {
	b.Helper()
	require.Equal(b, 1, r.code)
	require.Contains(b, keys(res.Problems), key)
	names, fine := stepsOf(res)
	require.Equal(b, first, names)
	require.False(b, fine[1])
	require.Contains(b, res.Steps[1].Problems, key)
}

func TestARollThatMakesNoSenseIsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"-load is for the nodes of -roll":                      {"-load", "sleep 1"},
		"-nodes is for the nodes of -roll":                     {"-nodes", "-3"},
		"-settle is for the nodes of -roll":                    {"-settle", "0s"},
		"-page is for the nodes of -roll":                      {"-page", ""},
		"-sample must not be negative":                         {"-sample", "-1"},
		"has no {node}":                                        {"-roll", "{program}"},
		"has no {program}":                                     {"-roll", "BIND={node}"},
		"-nodes must be at least 2":                            {"-roll", bankLine, "-nodes", "1"},
		"-page: ":                                              {"-roll", bankLine, "-page", "http://127.0.0.1/"},
		"must be a copy that nothing else uses: there is no t": {"-roll", bankLine, "-journal", "postgres://localhost/backup"},
	} {
		r := runWith(t, cli.Env{}, append([]string{"rehearse", "-old", "a", "-new", "b", "-journal", "c.db"}, args...)...)
		require.Equal(t, strings.Contains(want, "there is no t"), r.code == 1)
		require.Equal(t, !strings.Contains(want, "there is no t"), r.code == 2)
		require.Contains(t, r.errors, want)
	}
}

func TestTheReasonsOfLostMessagesAreThoseOfTheNode(t *testing.T) {
	var reasons []string
	for _, err := range []error{actor.ErrNotDecodable, actor.ErrNotSerializable, actor.ErrWrongType} {
		reasons = append(reasons, actorhook.ReasonText(err))
	}
	require.Equal(t, reasons, roll.Lost)
}
