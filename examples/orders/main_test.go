package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram is the environment variable that makes the test binary run as the example. Its nodes
// inherit it.
const asProgram = "UNDERSTUDY_ORDERS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestEachOrderIsChargedOnceWhateverHappensToTheNodes(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-orders", "150")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Regexp(t, `kill -9 of node-\d`, string(out))
	require.Regexp(t, `kill -CONT of node-\d`, string(out))
	require.Contains(t, string(out), "node-3 runs version 2")
	require.Regexp(t, `150 orders: [1-9]\d* shipped, [1-9]\d* declined, [1-9]\d* refused, [1-9]\d* cancelled`, string(out))
	require.Regexp(t, `[1-9]\d* customers were notified`, string(out))
	require.Contains(t, string(out), "by the ledger, each order was charged once or not at all")
}
