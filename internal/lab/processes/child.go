//go:build unix

package processes

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Child is a process that plays a role. It is killed when its test ends, at the latest.
type Child struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	end   sync.Once
}

// Start starts a process that plays a role, with arguments.
func Start(t *testing.T, role string, args ...string) *Child {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &Child{t: t, cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	t.Cleanup(c.Kill)
	return c
}

// Line waits for the child to say something.
func (c *Child) Line() string {
	c.t.Helper()
	require.True(c.t, c.lines.Scan(), "the child said no more: %v", c.lines.Err())
	require.False(c.t, strings.HasPrefix(c.lines.Text(), "failed"), c.lines.Text())
	return c.lines.Text()
}

// Rest returns what the child says until its end.
func (c *Child) Rest() []string {
	c.t.Helper()
	var lines []string
	for c.lines.Scan() {
		require.False(c.t, strings.HasPrefix(c.lines.Text(), "failed"), c.lines.Text())
		lines = append(lines, c.lines.Text())
	}
	require.NoError(c.t, c.lines.Err())
	return lines
}

// Finish lets the child end by itself and returns what it said until then.
func (c *Child) Finish() []string {
	c.t.Helper()
	c.EndInput()
	lines := c.Rest()
	c.end.Do(func() { require.NoError(c.t, c.cmd.Wait()) })
	return lines
}

// Ask sends the child a line, for one that waits for that.
func (c *Child) Ask() {
	c.t.Helper()
	_, err := io.WriteString(c.stdin, "\n")
	require.NoError(c.t, err)
}

// EndInput lets the child end by itself, without waiting for it.
func (c *Child) EndInput() {
	c.t.Helper()
	require.NoError(c.t, c.stdin.Close())
}

// Signal sends the child a signal.
func (c *Child) Signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

// Kill ends the child with SIGKILL, if it has not ended; what it said before can be read
// still when the pipe is read first.
func (c *Child) Kill() {
	c.end.Do(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // it was killed
	})
}
