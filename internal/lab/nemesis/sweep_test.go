//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessesThatSweepAtTheSameTimeRemoveWhatADeadOneLeft(t *testing.T) {
	needNetwork(t)
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	var left []string
	for n := range 5 {
		left = append(left, fmt.Sprintf("%s-%d-n%d", prefix, dead.Process.Pid, n))
		require.NoError(t, command("", "ip", "netns", "add", left[n]))
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		all.Go(func() { errs[n] = sweep() })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, name := range left {
		require.NoFileExists(t, "/run/netns/"+name)
	}
}
