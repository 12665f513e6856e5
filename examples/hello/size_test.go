package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program in which methods are looked up by names that are not constant keeps all of them, of
// everything that it imports: that made this one half as large again.
func TestTheProgramIsSmall(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hello")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(6_500_000))
}
