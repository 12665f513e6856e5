package pgtest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Kill ends the server as a power cut would end its processes.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	<-s.ended
}

// Outage kills the server, and end starts it again, with what it had committed.
func (s *Server) Outage(t *testing.T) (end func()) {
	t.Helper()
	s.Kill(t)
	return func() { s.Run(t) }
}

// Stop stops the server, which says nothing until [Server.Resume], and keeps its
// connections.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	for _, pid := range s.signal(t, syscall.SIGSTOP) {
		require.Eventually(t, func() bool { //nolint:forbidigo // real processes
			status, err := os.ReadFile("/proc/" + pid + "/status")
			return err != nil || strings.Contains(string(status), "\nState:\tT")
		}, time.Minute, time.Millisecond)
	}
}

// Resume lets a server go on that [Server.Stop] has stopped.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

// signal sends a signal to every process of the server, and returns them.
func (s *Server) signal(t testing.TB, sig syscall.Signal) (pids []string) {
	t.Helper()
	main := strconv.Itoa(s.process.Process.Pid)
	children, err := os.ReadFile("/proc/" + main + "/task/" + main + "/children")
	if err != nil {
		lack(t, "the processes of a server are found by /proc only: "+err.Error())
	}
	pids = append([]string{main}, strings.Fields(string(children))...)
	for _, pid := range pids {
		id, err := strconv.Atoi(pid)
		require.NoError(t, err)
		_ = syscall.Kill(id, sig) // it may have ended by itself
	}
	return pids
}
