package roll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
)

// A node is a place in the cluster: its addresses stay, its processes come and go.
type node struct {
	name          string
	address, http string // host:port
	seeds         string
	journal       string
	client        *client.Client

	letters map[string]uint64 // dead letters that are known, by reason
	build   string            // of the process
	broken  bool              // there was a problem when it began
	cmd     *exec.Cmd         // nil before the first process
	ended   chan struct{}     // closed after the process
	output  *output
}

// fill replaces placeholders.
func (n *node) fill(text string) string {
	return strings.NewReplacer("{name}", n.name, "{node}", n.address, "{node-port}", port(n.address),
		"{seeds}", n.seeds, "{http}", n.http, "{http-port}", port(n.http), "{journal}", n.journal).Replace(text)
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address) // it is one
	return p
}

// start starts a build, which ends with ctx.
func (n *node) start(ctx context.Context, l line, build string) error {
	exe, err := filepath.Abs(build)
	if err != nil {
		return err
	}
	args, env := l.command(n)
	cmd := exec.CommandContext(ctx, exe, args...) //nolint:gosec // the user has named it
	n.output.begin()
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, n.output, n.output, 5*time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	n.cmd, n.ended, n.letters, n.build, n.broken = cmd, make(chan struct{}), map[string]uint64{}, build, false
	go func() {
		_ = cmd.Wait() // its state says how it has ended
		close(n.ended)
	}()
	return nil
}

func (n *node) runs() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// An endedError says that a process has ended otherwise than with the exit code 0.
type endedError struct{ how, said string }

func (e *endedError) Error() string {
	text := "its process has ended (" + e.how + ")"
	if e.said != "" {
		text += "; it has printed:\n" + e.said
	}
	return text
}

func (n *node) how() error { return &endedError{n.cmd.ProcessState.String(), n.output.ends()} }

// stop stops the process as an orchestrator would. A process that has ended before is no failure:
// that has been found.
func (n *node) stop(within time.Duration) error {
	if !n.runs() {
		return nil
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.kill()
		return err
	}
	select {
	case <-n.ended:
	case <-time.After(within):
		n.kill()
		return fmt.Errorf("it still ran %v after SIGTERM, and was killed", within)
	}
	if n.cmd.ProcessState.Success() {
		return nil
	}
	return n.how()
}

func (n *node) kill() {
	if n.cmd != nil {
		_ = n.cmd.Process.Kill() // it may have ended
		<-n.ended
	}
}

func (n *node) errors() []finding {
	var all []finding
	for _, f := range n.output.errors() {
		all = append(all, finding{Problem: Problem{Kind: "log", About: f.message, Text: fmt.Sprintf("the log of %s has an error: %s", n.name, f)}})
	}
	return all
}
