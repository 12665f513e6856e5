package pgtest

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/internal/process"
)

// Kill ends the server as a power cut would end its processes.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.each(t, kill)
	<-s.ended
}

// Outage kills the server. end starts it again, with the committed data.
func (s *Server) Outage(t *testing.T) (end func()) {
	t.Helper()
	s.Kill(t)
	return func() { s.Run(t) }
}

// Stop pauses the server. It keeps its connections, but does not answer until [Server.Resume].
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	for _, pid := range s.each(t, process.Pause) {
		require.Eventually(t, func() bool { //nolint:forbidigo // real processes
			status, err := os.ReadFile("/proc/" + pid + "/status")
			return err != nil || strings.Contains(string(status), "\nState:\tT")
		}, time.Minute, time.Millisecond)
	}
}

// Resume continues a server that [Server.Stop] has paused.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.each(t, process.Continue)
}

func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// each returns the processes.
func (s *Server) each(t testing.TB, harm func(pid int) error) (pids []string) {
	t.Helper()
	main := strconv.Itoa(s.process.Process.Pid)
	children, err := os.ReadFile("/proc/" + main + "/task/" + main + "/children")
	if err != nil {
		needs.Missing(t, "the processes of a server are found by /proc only: %v", err)
	}
	pids = append([]string{main}, strings.Fields(string(children))...)
	for _, pid := range pids {
		id, err := strconv.Atoi(pid)
		require.NoError(t, err)
		_ = harm(id) // it may have ended by itself
	}
	return pids
}
