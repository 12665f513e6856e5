//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jetstreamtest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/understudy-go/understudy/internal/lab/processes"
)

// For a minute: go test -C internal/lab/jetstreamtest -run Fight -v -fight=1m
func TestTwoPausedProcessesThatFightOverAnEntityLeaveOneHistory(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := &rig{cluster: start(t, n)}
			j := r.open(t, r.name())
			const id = "fought over"
			processes.Fight(t, j, id, func(role string) *processes.Child {
				return processes.Start(t, role, j.nc.ConnectedUrl(), j.stream, strconv.Itoa(n), id)
			})
		})
	}
}
