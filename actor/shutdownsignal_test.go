//go:build unix

package actor_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

// stubbornly is set for the process that the tests of signals start.
const stubbornly = "UNDERSTUDY_TEST_SERVER"

// serve is the program of that process: a server whose requests take some time.
func serve(takes time.Duration) {
	s := actor.NewSystem("server")
	s.OnShutdown(actor.ServiceUnbind, "unbind", func(context.Context) error {
		fmt.Println("unbound")
		return nil
	})
	s.OnShutdown(actor.ServiceRequestsDone, "requests", func(ctx context.Context) error {
		select {
		case <-time.After(takes):
			fmt.Println("served")
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err := s.ShutdownOnSignal(announced{context.Background()}); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("bye")
}

// announced says so when somebody begins to wait for it.
type announced struct{ context.Context }

func (announced) Done() <-chan struct{} {
	fmt.Println("up")
	return nil
}

// startServer starts that process, and waits until it is up.
func startServer(t *testing.T, takes time.Duration) (server *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	server = exec.Command(os.Args[0], "-test.run=^TestASignal")
	server.Env = append(os.Environ(), stubbornly+"="+takes.String())
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill() })
	lines = bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "up", lines.Text())
	return server, lines
}

func TestASignalShutsTheSystemDownInOrder(t *testing.T) {
	if takes, err := time.ParseDuration(os.Getenv(stubbornly)); err == nil {
		serve(takes)
		os.Exit(0)
	}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		server, lines := startServer(t, 0)
		require.NoError(t, server.Process.Signal(sig))
		for _, want := range []string{"unbound", "served", "bye"} {
			require.True(t, lines.Scan())
			require.Equal(t, want, lines.Text())
		}
		require.NoError(t, server.Wait())
	}
}

func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	server, lines := startServer(t, time.Hour)
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	require.True(t, lines.Scan())
	require.Equal(t, "unbound", lines.Text())
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	err := server.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, err)
	require.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
}
