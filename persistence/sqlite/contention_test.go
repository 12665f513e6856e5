//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/processes"
)

// For a minute: go test ./persistence/sqlite -run Fight -v -fight=1m
func TestTwoPausedProcessesThatFightOverAnEntityLeaveOneHistory(t *testing.T) {
	t.Parallel()
	j := openTest(t)
	processes.Fight(t, j, "fought over", func(role string) *processes.Child {
		return processes.Start(t, role, pathOf(j), "fought over")
	})
	require.NoError(t, j.Check(t.Context()))
}

func TestAProcessWithoutFilesIsToldSoAndGoesOn(t *testing.T) {
	j := openTest(t)
	processes.OutOfFiles(t, j, "x", func(role string) *processes.Child { return processes.Start(t, role, pathOf(j), "x") })
}
