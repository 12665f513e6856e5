//go:build unix

package storebench

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
