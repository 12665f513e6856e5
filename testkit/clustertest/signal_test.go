//go:build !quick

package clustertest_test

import (
	"context"
	"os"
	"os/signal"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// The end of the context stands for a signal, which would be for all tests of the process.
func TestANodeHandsOverWhenItShutsDownOnASignal(t *testing.T) {
	outside := make(chan os.Signal, 1)
	signal.Notify(outside, os.Interrupt) // starts the goroutine of package signal, which never ends
	defer signal.Stop(outside)
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n1, n2 := c.Node("n1"), c.Node("n2")
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
		}
		time.Sleep(time.Second)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.NoError(t, n1.ShutdownOnSignal(ctx))
		status, _ := singleton.StatusOf(n2.System, "clerk")
		require.True(t, status.Here, "a node that hands nothing over lets the next one wait for the margin")
	})
}
