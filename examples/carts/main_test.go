package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram is the environment variable that makes the test binary run as the example. Its servers
// inherit it.
const asProgram = "UNDERSTUDY_CARTS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestNoAcknowledgedItemIsLostWhenAServerIsKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Contains(t, string(out), "kill -9 of server 1")
	require.Regexp(t, `all \d{3,} acknowledged items are in their carts, each once`, string(out))
}
