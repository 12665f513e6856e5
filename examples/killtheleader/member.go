package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// restartDelay is how long the supervisor waits before it starts an ended process again.
const restartDelay = time.Second

// A member is a node of the trial. Its process is started again whenever it ends, as a supervisor
// like the kubelet does it.
type member struct {
	cfg     nodeConfig
	space   string // network namespace, or ""
	log     *os.File
	refused *atomic.Int64

	mu      sync.Mutex // guards process
	process *process.Process
}

// keep runs the process again and again until ctx ends.
func (m *member) keep(ctx context.Context) error {
	for {
		p, err := m.start()
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = p.Signal(syscall.SIGKILL) }) // it may have ended
		m.listen(p)
		stop()
		p.Kill()
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the trial is over
		}
		_, _ = fmt.Fprintf(m.log, "--- %s has ended (%v)\n", m.cfg.Name, p.Status())
		pause(ctx, restartDelay)
	}
}

func (m *member) start() (*process.Process, error) {
	text, err := json.Marshal(m.cfg)
	if err != nil {
		return nil, err
	}
	cmd := process.Self([]string{nodeVariable + "=" + string(text)})
	if m.space != "" {
		inside := exec.Command("ip", "netns", "exec", m.space, cmd.Path) // it becomes the program: the pid stays
		inside.Env = cmd.Env
		cmd = inside
	}
	cmd.Stderr = m.log
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process = p
	return p, nil
}

// listen counts refused writes until the process ends.
func (m *member) listen(p *process.Process) {
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		if line == refusedLine {
			m.refused.Add(1)
		}
	}
}

// current returns the process that was started last.
func (m *member) current() *process.Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

func (m *member) signal(sig syscall.Signal) error { return m.current().Signal(sig) }
