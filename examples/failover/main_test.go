package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

// asProgram is the environment variable that makes the test binary run as the example. The nodes
// inherit it.
const asProgram = "UNDERSTUDY_FAILOVER"

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

// output runs the program, which must succeed, and returns its output.
func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := program(t, args...).CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	return string(out)
}

func TestTheHostIsKilledAgainAndAgainAndNothingIsLost(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "failover.svg")
	out := output(t, "-picture", picture)
	require.Equal(t, 2, strings.Count(out, "kill -9"))
	require.Equal(t, 2, strings.Count(out, "has been started again, and is a member again"))
	require.Contains(t, out, "leaves, at count")
	require.Contains(t, out, "each in the final state exactly once")

	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	var drawn struct {
		Rect []struct {
			Fill string `xml:"fill,attr"`
		} `xml:"rect"`
	}
	require.NoError(t, xml.Unmarshal(svg, &drawn))
	bars := map[string]int{}
	for _, rect := range drawn.Rect {
		bars[rect.Fill]++
	}
	require.Equal(t, 4, bars["#2b7a3d"], "a bar for each host")
	require.Greater(t, bars["#2b5fab"], 20, "a bar for each tenth of a second in which something was acknowledged")
}

func TestAPausedHostDoesNoHarmWhenItWakesUp(t *testing.T) {
	database := filepath.Join(t.TempDir(), "kept.db")
	out := output(t, "-pause", "-journal", database)
	require.Contains(t, out, "it still believes that it hosts")
	require.Contains(t, out, "has found itself removed, and is a member again")
	require.Contains(t, out, "each in the final state exactly once")
	require.FileExists(t, database)
}

func TestAJournalOfAnotherModuleIsRefusedAndItsCommandNamed(t *testing.T) {
	out, err := program(t, "-journal", "postgres://me:secret@db.example/app").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, string(out), "go -C internal/lab/postgres run ./failover -journal postgres://")
	require.NotContains(t, string(out), "secret")
}

func TestAnInterruptLeavesNoProcessBehind(t *testing.T) {
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
