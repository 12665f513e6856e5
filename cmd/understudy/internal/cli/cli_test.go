package cli

import (
	"bytes"
	"cmp"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func run(t *testing.T, args ...string) (code int, out, errors string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), Env{Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Getenv: func(string) string { return "" }}, args)
	return code, o.String(), e.String()
}

func TestTheHelpListsEveryCommand(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		code, out, errors := run(t, args...)
		require.Zero(t, code)
		require.Empty(t, errors)
		for _, v := range verbs {
			require.Contains(t, out, "\n  "+v.name)
		}
	}
	code, out, _ := run(t, "version")
	require.Zero(t, code)
	require.True(t, strings.HasPrefix(out, "understudy "))
	code, _, errors := run(t, "down", "-h")
	require.Zero(t, code)
	require.Contains(t, errors, "understudy down [flags] MEMBER: ")
	require.Contains(t, errors, "-yes")
}

func TestAWrongCommandLineIsExitCodeTwo(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"dance"},
		{"status", "extra"},
		{"why", "a", "b"},
		{"down"},
		{"status", "-dance"},
		{"status", "-url", "nowhere"},
		{"members", "-ca", "/absent"},
		{"status", "-request-timeout", "0"},
		{"status", "-header", ": x"},
		{"-url", "http://127.0.0.1:1/x"},
		{"-dance", "status"},
		{"-yes", "status"},
		{"-json", "dance"},
		{"rehearse"},
		{"rehearse", "-old", "a", "-new", "b"},
		{"resend", "dd"},
		{"discard", "first"},
		{"resend", "1", "-url", "http://127.0.0.1:1/,http://127.0.0.1:2/"},
		{"drain", "-url", "http://127.0.0.1:1/,http://127.0.0.1:2/"},
		{"entity", "cart/1", "-program", "shop"},
		{"entity", "cart/1", "-journal", "shop.db"},
	} {
		code, out, errors := run(t, args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, out)
		require.NotEmpty(t, errors)
	}
}

func TestWhenNoNodeAnswersTheErrorSaysWhere(t *testing.T) {
	for _, v := range verbs {
		if v.name == "mcp" || v.name == "rehearse" {
			continue
		}
		args := []string{v.name, "-url", "http://127.0.0.1:1/x"}
		if v.needs() {
			args = append(args, cmp.Or(map[string]string{"TYPE/ID": "cart/1"}[v.args], "1"))
		}
		if v.name == "steer" {
			args = append(args, "-do", "cancel")
		}
		code, out, errors := run(t, args...)
		require.Equal(t, 1, code)
		require.Empty(t, out)
		require.Contains(t, errors, "understudy: no node answers; http://127.0.0.1:1/x: dial tcp")
	}
}

func TestAnEntityIsNamedByItsTypeAndID(t *testing.T) {
	for _, name := range []string{"42", "cart/", "/42"} {
		code, out, errors := run(t, "entity", name)
		require.Equal(t, 2, code)
		require.Empty(t, out)
		require.Equal(t, "understudy: \""+name+"\" is not the type and the id of an entity, such as cart/42, nor singleton/NAME\n", errors)
	}
}

func TestFlagsMayFollowArguments(t *testing.T) {
	v := verb{name: "why", args: "[NAME]", most: 1}
	c := &command{Env: Env{Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "http://a" }}}
	require.NoError(t, v.parse(c, []string{"-json", "ledger", "-header", "A: b", "-header=A:c"}))
	require.Equal(t, "ledger", c.arg())
	require.True(t, c.json)
	require.Equal(t, []string{"b", "c"}, c.header["A"])
	require.Equal(t, "http://a", c.urls)
}

func TestFlagsMayComeBeforeTheCommand(t *testing.T) {
	for _, args := range [][]string{
		{"-url", "http://127.0.0.1:1/x", "schedules"},
		{"--url=http://127.0.0.1:1/x", "-json", "why", "ledger"},
		{"-limit", "3", "dead-letters", "-url", "http://127.0.0.1:1/x"},
		{"-json", "--", "members", "-url", "http://127.0.0.1:1/x"},
	} {
		code, _, errors := run(t, args...)
		require.Equal(t, 1, code, args)
		require.Contains(t, errors, "no node answers; http://127.0.0.1:1/x", args)
	}
	code, out, _ := run(t, "-json", "-h")
	require.Equal(t, 0, code)
	require.Contains(t, out, "understudy COMMAND -h")
}

func TestNamesFromOtherNodesCannotControlATerminal(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeMembers(&b, report.Members{Members: []report.Member{{Name: "a\x1b[2J\tb\nc", Address: "\u009b1m\u202e", UnreachableBy: []string{"x"}}}}))
	require.Contains(t, b.String(), "a\uFFFD[2J b c")
	require.NotContains(t, b.String(), "\x1b")
	require.NotContains(t, b.String(), "\u009b")
	require.NotContains(t, b.String(), "\u202e")
	require.Contains(t, b.String(), "not by x")
	b.Reset()
	require.NoError(t, writeDeadLetters(&b, status.DeadLetters{ByReason: map[string]uint64{"other": 1}, Letters: []status.DeadLetter{{Recipient: "a\tb"}}, LeftOut: 3}))
	require.Contains(t, b.String(), "a b")
	require.Contains(t, b.String(), "3 older ones are left out")
	b.Reset()
	require.NoError(t, writeWhy(&b, report.Why{Problems: []report.Problem{{Kind: "\x1b[2J", Text: "\x1b[2J"}}}))
	require.NotContains(t, b.String(), "\x1b")
}

func TestErrorsAndJSONFromANodeCannotControlATerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/history") {
			_, _ = w.Write([]byte(`{"node": "a", "events": [{"kind": "x\u009b1m\u202e😀", "node": "a\u001b[2J"}]}`))
			return
		}
		http.Error(w, "\x1b[2J\u009b1m broken", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	code, _, errors := run(t, "status", "-url", server.URL)
	require.Equal(t, 1, code)
	require.Contains(t, errors, "[2J\uFFFD1m broken (500 Internal Server Error)\n")
	require.NotContains(t, errors, "\x1b")

	code, out, _ := run(t, "events", "-url", server.URL+",http://127.0.0.1:1")
	require.Zero(t, code)
	require.NotContains(t, out, "\x1b")
	require.Contains(t, out, "Not all nodes have answered: no node answers; http://127.0.0.1:1/: dial")
	_, out, _ = run(t, "events", "-json", "-url", server.URL)
	require.Contains(t, out, `"x\u009b1m\u202e😀"`)
	require.Contains(t, out, `"a\u001b[2J"`)
	require.True(t, strings.HasSuffix(out, "}\n"))
}
