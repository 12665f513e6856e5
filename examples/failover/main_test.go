package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test's own binary be the example, for the director to start it again
// as a node and for the test of an interrupt.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "-node" || os.Args[1] == "-pause=false") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheHostIsKilledAgainAndAgainAndNothingIsLost(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, direct(t.Context(), &out, false), "%s", &out)
	t.Logf("\n%s", &out)
	require.Equal(t, 2, strings.Count(out.String(), "kill -9"))
	require.Equal(t, 2, strings.Count(out.String(), "has been started again, and is a member again"))
	require.Contains(t, out.String(), "leaves, at count")
	require.Contains(t, out.String(), "each in the final state exactly once")
}

func TestAPausedHostDoesNoHarmWhenItWakesUp(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, direct(t.Context(), &out, true), "%s", &out)
	t.Logf("\n%s", &out)
	require.Contains(t, out.String(), "it still believes that it hosts")
	require.Contains(t, out.String(), "has found itself removed, and is a member again")
	require.Contains(t, out.String(), "each in the final state exactly once")
}

func TestAnInterruptLeavesNoProcessBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looking for processes needs /proc")
	}
	cmd := exec.Command(os.Args[0], "-pause=false")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	_, journal, ok := strings.Cut(lines.Text(), "journal in ")
	require.True(t, ok, lines.Text())
	for lines.Scan() && !strings.Contains(lines.Text(), "three members") {
	}
	require.Len(t, processesOf(t, journal), 3)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for lines.Scan() {
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Empty(t, processesOf(t, journal))
	require.NoFileExists(t, journal)
}

// processesOf returns the processes that were given the journal.
func processesOf(t *testing.T, journal string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range all {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(journal)) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

func TestTheBooksFindALostADoubledAndAMisplacedIncrement(t *testing.T) {
	a, b := ID{"n1-a", 1}, ID{"n2-b", 1}
	books := newBooks()
	books.acknowledged(Ack{ID: a})
	require.NoError(t, books.check(Counted{Applied: []ID{a, b}}, []ID{a, b}), "one that was not acknowledged may be there")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{b}}, []ID{b}), "acknowledged and counted 0 times")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a, a}}, []ID{a, a}), "counted 2 times")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a, b}}, []ID{b, a}), "in the journal")
	require.ErrorContains(t, books.check(Counted{Applied: []ID{a}}, []ID{a, b}), "the journal 2")
}

func TestGenerationsAreComparedByTermAndThenBySequence(t *testing.T) {
	require.True(t, newer("10.1", "9.9"))
	require.True(t, newer("2.2", "2.1"))
	require.False(t, newer("2.1", "2.1"))
	require.False(t, newer("", "1.1"))
}
