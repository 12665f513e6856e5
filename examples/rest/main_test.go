package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// asProgram is the environment variable that makes the test binary run as the example. Its servers
// inherit it.
const asProgram = "UNDERSTUDY_REST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestUnderLoadAndKilledEachAcknowledgedPaymentIsMadeOnce(t *testing.T) {
	effort.Verify(t) // half a minute
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-seconds", "2")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Regexp(t, `\| three times that \| \d+ \| \d{2,} \| \d+ms \| \d+ms \| \d{2,} \|`, string(out))
	require.Regexp(t, `\| its host leaves \| \d+ \| \d{2,} \|`, string(out))
	require.Regexp(t, `\| its host is killed \| .* 5 \| \d+ \| \d+ \|`, string(out))
	require.Contains(t, string(out), "Each of them is in the journal exactly once.")
}
