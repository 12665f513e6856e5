//go:build unix

package processes

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
)

// A Child is a process that plays a role. It is killed when its test ends, at the latest.
type Child struct {
	t       *testing.T
	process *process.Process
}

// Start starts a process that plays a role, with arguments.
func Start(t *testing.T, role string, args ...string) *Child {
	t.Helper()
	p, err := process.Start(process.Self([]string{roleEnv + "=" + role}, args...))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return &Child{t, p}
}

// Line waits for the next line of the child.
func (c *Child) Line() string {
	c.t.Helper()
	line, ok := c.process.Line()
	require.True(c.t, ok, "the child has ended its output")
	require.False(c.t, strings.HasPrefix(line, "failed"), line)
	return line
}

// Rest returns the lines of the child until its end.
func (c *Child) Rest() []string {
	c.t.Helper()
	lines := c.process.Rest()
	for _, line := range lines {
		require.False(c.t, strings.HasPrefix(line, "failed"), line)
	}
	return lines
}

// Finish lets the child end by itself and returns its lines until then.
func (c *Child) Finish() []string {
	c.t.Helper()
	c.EndInput()
	lines := c.Rest()
	require.NoError(c.t, c.process.Wait())
	return lines
}

// Ask sends the child a line, for a role that waits for one.
func (c *Child) Ask() {
	c.t.Helper()
	require.NoError(c.t, c.process.Tell(""))
}

// EndInput lets the child end by itself, without waiting for it.
func (c *Child) EndInput() { c.process.EndInput() }

// Signal sends the child a signal.
func (c *Child) Signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.process.Signal(s))
}

// Kill ends the child with SIGKILL, if it has not ended. Lines that are not read by then are lost.
func (c *Child) Kill() { c.process.Kill() }
