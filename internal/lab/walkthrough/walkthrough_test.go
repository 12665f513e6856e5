package walkthrough_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/walkthrough"
)

const page = "Save this:\n\n```go file=a/main.go\npackage main\n```\n\n" +
	"```sh skip\nexit 1\n```\n\n" +
	"```sh\ncd a && NAME=Ada\nsleep 60 &\n```\n\n" +
	"```sh\necho \"$NAME $(cat main.go)\"\necho one\necho two\nkill -9 %1\n```\n\nprints\n\n```text\nAda package …\n…\ntwo\n```\n"

func TestAPageIsFollowedInOneShell(t *testing.T) {
	dir := t.TempDir()
	shell, err := walkthrough.Open(t.Context(), dir)
	require.NoError(t, err)
	defer shell.Close()
	var lines []int
	require.NoError(t, shell.Follow(page, func(step walkthrough.Step) { lines = append(lines, step.Line) }))
	require.Equal(t, []int{3, 11, 16}, lines)
	text, err := os.ReadFile(filepath.Join(dir, "a/main.go"))
	require.NoError(t, err)
	require.Equal(t, "package main\n", string(text))
}

func TestAStepThatFailsIsNamed(t *testing.T) {
	shell, err := walkthrough.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer shell.Close()
	ignore := func(walkthrough.Step) {}
	require.ErrorContains(t, shell.Follow("```sh\necho fine\n```\n```sh\nls nowhere\n```\n", ignore), "line 4: a command has failed")
	require.ErrorContains(t, shell.Follow("\n```sh\necho one\n```\n```text\ntwo\n```\n", ignore), "line 2: the output differs")
	require.NoError(t, shell.Follow("```sh nosuch\nfalse\n```\n", ignore, "other"))
	require.ErrorContains(t, shell.Follow("```sh nosuch\nfalse\n```\n", ignore, "nosuch"), "line 1: a command has failed")
	require.ErrorContains(t, shell.Follow("```sh\nfalse\ntrue\n```\n", ignore), "line 1: a command has failed")
	require.ErrorContains(t, shell.Follow("```sh\nls nowhere | cat\n```\n", ignore), "line 1: a command has failed")
	require.NoError(t, shell.Follow("```sh\nread x || true\ncat\n```\n", ignore), "there is no input")
	require.ErrorContains(t, shell.Follow("```sh skip\nls\n```\n```text\nx\n```\n", ignore), "line 4: no commands are right before")
	require.ErrorContains(t, shell.Follow("```sh\n", ignore), "line 1: the fence has no end")
}

func TestAnOutputMayHaveGaps(t *testing.T) {
	for _, c := range []struct {
		got, want string
		matches   bool
	}{
		{"1\n2\n", "1\n2", true},
		{"1 \n[1] 4711\n[1]+  Killed                  sleep 60\n2\n", "1\n2", true},
		{"1\n[1] 2 lost orders\n", "1", false},
		{"1\n2\n", "1", false},
		{"took 3.1s\n", "took …s", true},
		{"a\nb\nc\nd\n", "a\n…\nd", true},
		{"a\nd\n", "a\n…\nd", true},
		{"a\nb\n", "a\n…\nd", false},
		{"a\n", "…", true},
		{"a.b\n", "aXb", false},
	} {
		require.Equal(t, c.matches, walkthrough.Matches(c.got, c.want), "%q as %q", c.got, c.want)
	}
}

func TestADiffEditsAFile(t *testing.T) {
	dir := t.TempDir()
	shell, err := walkthrough.Open(t.Context(), dir)
	require.NoError(t, err)
	defer shell.Close()
	const file = "```go file=main.go\none\ntwo\n\tthree\n```\n"
	require.NoError(t, shell.Follow(file+"```diff file=main.go\n one\n-two\n+TWO\n\n \tthree\n+four\n```\n", func(walkthrough.Step) {}))
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	require.NoError(t, err)
	require.Equal(t, "one\nTWO\n\tthree\nfour\n", string(text))
	require.ErrorContains(t, shell.Follow("```diff file=main.go\n-hree\n```\n", func(walkthrough.Step) {}), "these lines occur 0 times")
	require.ErrorContains(t, shell.Follow("```diff file=main.go\n one\n\n\n+two\n```\n", func(walkthrough.Step) {}), "one blank line separates")
	require.ErrorContains(t, shell.Follow("```diff file=main.go\n-five\n```\n", func(walkthrough.Step) {}), "line 1: main.go: these lines occur 0 times")
}

func TestTheNumberOfAJobThatHasEndedIsFreeAgain(t *testing.T) {
	shell, err := walkthrough.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer shell.Close()
	for range 3 {
		require.NoError(t, shell.Follow("```sh\nsleep 60 &\n```\n```sh\nkill -9 %1\nwait\n```\n", func(walkthrough.Step) {}))
	}
}
