package effects

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
)

// asProgram is the environment variable that makes the test binary run as the program. Its other
// processes inherit it.
const asProgram = "UNDERSTUDY_EFFECTS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main(nil)
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Dir = append(os.Environ(), asProgram+"=1", "TMPDIR=."), t.TempDir()
	return cmd
}

func TestEachEffectIsMadeOnceWhileAllFaultsStrike(t *testing.T) {
	cmd := program(t, "-effects", "5000", "-spread", "25s", "-shortest", "7s", "-longest", "7500ms")
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	for _, fault := range []string{"SIGSTOP", "SIGKILL", "cut between nodes", "rolling restart", "cut to the sink", "lost answers", "SIGKILL of the sink"} {
		require.Regexp(t, `(?m)^ +[1-9]\d* × `+fault+": ", string(out))
	}
	require.Regexp(t, "repetitions answered from the stored answer: [1-9]", string(out))
	require.Contains(t, string(out), "journal: 200 runs done, 5000 steps with an outcome")
	require.Contains(t, string(out), "each effect was made once, and none by a process that was replaced")
	left, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, left, "the databases are removed")
}

func TestASignalEndsAllProcesses(t *testing.T) {
	cmd := program(t, "-effects", "100000")
	var errs strings.Builder
	cmd.Stderr = &errs
	p, err := process.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	for line, ok := p.Line(); ; line, ok = p.Line() {
		require.True(t, ok, errs.String())
		if strings.Contains(line, "are there") {
			break
		}
	}
	require.NoError(t, p.Signal(syscall.SIGINT))
	p.Rest() // until the processes have ended that share the output
	require.Error(t, p.Wait())
	require.Equal(t, 1, p.Status().ExitStatus(), errs.String())
	require.Contains(t, errs.String(), "effects: interrupted")
	left, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, left, "the databases are removed")
}

func TestWrongFlagsAreErrors(t *testing.T) {
	for args, text := range map[string]string{
		"-effects=0":                     "-effects, -at-once and -shortest must be positive",
		"-shortest=9s -longest=8s":       "-longest not less than -shortest",
		"-journal=postgres://localhost/": "go -C internal/lab/postgres run ./effects",
	} {
		out, err := program(t, strings.Fields(args)...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), text)
	}
}
