package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// If any package looks up a method by a name that is not constant, the linker keeps all methods of
// all imported types. That made this program half as large again.
func TestTheProgramIsSmall(t *testing.T) {
	effort.Verify(t)
	program := filepath.Join(t.TempDir(), "hello")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(7_200_000))
}
