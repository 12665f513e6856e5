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

	"github.com/understudy-go/understudy/internal/needs"
)

// asProgram is the environment variable that makes the test binary run as the example. Its nodes
// inherit it.
const asProgram = "UNDERSTUDY_REMINDERS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

func TestNoReminderIsLostOrComesAfterItsEndWhenANodeIsKilled(t *testing.T) {
	out, err := program(t).CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Regexp(t, `kill -9 of node-\d`, string(out))
	require.Regexp(t, `(\d{3}) reminders were set: (\d{3}) acknowledged`, string(out))
	require.Regexp(t, `[1-9]\d* were cancelled, and 0 of these delivered`, string(out))
	require.Regexp(t, `[1-9]\d* of them by an entity that slept`, string(out))
	require.Regexp(t, `and 0 of these without an Attempt above 1`, string(out))
	require.Regexp(t, `late after the kill:  p50 .*, p99 .*, max `, string(out))
}

func TestAJournalOfAnotherModuleIsRefusedAndItsCommandNamed(t *testing.T) {
	out, err := program(t, "-journal", "postgres://me:secret@db.example/app").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, string(out), "go -C internal/lab/postgres run ./reminders -journal postgres://")
	require.NotContains(t, string(out), "secret")
}

func TestAnInterruptLeavesNeitherProcessesNorFilesBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Missing(t, "looking for processes needs /proc")
	}
	cmd := program(t)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	_, journal, ok := strings.Cut(lines.Text(), "journal in ")
	require.True(t, ok, lines.Text())
	require.Len(t, processesOf(t, journal), 3)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for lines.Scan() {
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Empty(t, processesOf(t, journal))
	require.NoDirExists(t, filepath.Dir(journal))
}

// processesOf returns the processes whose command line contains the journal.
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
