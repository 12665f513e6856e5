//go:build !race && !understudy_debug

package actor

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// One byte more in the part of a core that each message changes made a tell take a quarter longer:
// its fields, and the begin of the queue behind them, no longer were on one cache line.
func TestWhatEachMessageChangesIsOnOneCacheLine(t *testing.T) {
	const cacheLine = 64
	var c cell[int]
	begin := unsafe.Offsetof(c.core.mu)
	var g guarded
	require.EqualValues(t, 16, unsafe.Sizeof(g)-unsafe.Offsetof(g.mu), "the mutex and the flags behind it")
	require.Less(t, begin%cacheLine, uintptr(cacheLine/2), "the mutex begins at %d", begin)
}
