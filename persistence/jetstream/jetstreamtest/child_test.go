package jetstreamtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// childEnv makes the test binary play one of children, with the arguments that it is given.
// A child says on its standard output what it has done, a line for each deed, and ends with
// its standard input.
const childEnv = "UNDERSTUDY_JETSTREAM_CHILD"

var children = map[string]func(args []string) error{"server": serve}

func TestMain(m *testing.M) {
	role := os.Getenv(childEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := children[role](os.Args[1:]); err != nil {
		say("failed: %v", err)
		os.Exit(1)
	}
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// untilEOF is done when the standard input ends.
func untilEOF() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}

// A child is another process, as the test sees it.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// startChild starts a child, and kills it with the test if it is there still.
func startChild(t *testing.T, role string, args ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], args...)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+role)
	c.cmd.Stderr = os.Stderr
	stdin, err := c.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	c.stdin, c.lines = stdin, bufio.NewScanner(stdout)
	require.NoError(t, c.cmd.Start())
	t.Cleanup(c.kill)
	return c
}

// kill is kill -9.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
