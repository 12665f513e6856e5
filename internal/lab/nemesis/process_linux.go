package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// A nodeRun is one process of a node.
type nodeRun struct {
	*process.Process
	node     string
	name     string       // of the node, and which process of it
	expected atomic.Bool  // the harness has ended it
	ended    atomic.Int64 // since when it does nothing any more, by the clock; 0 if it goes on
}

// startProcess runs a program as a node, in the namespace of that node: this program, or another
// version of it. The process ends with this one, however that ends.
func startProcess(cfg nodeConfig, program string, log *os.File) (*nodeRun, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	self := process.Self([]string{nodeEnv + "=" + string(text)})
	cmd := exec.Command("ip", "netns", "exec", space(cfg.Place), cmp.Or(program, self.Path)) // it becomes the program: the pid stays
	cmd.Env, cmd.Stdout, cmd.Stderr = self.Env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p, err := process.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Process, err)
	}
	run := &nodeRun{Process: p, node: cfg.Name, name: cfg.Process}
	go func() {
		_ = p.Wait()
		run.over()
	}()
	return run, nil
}

// over notes that the process does nothing any more.
func (p *nodeRun) over() { p.ended.CompareAndSwap(0, int64(clock())) }

// strike kills the process, and does not wait for its end.
func (p *nodeRun) strike() error {
	p.expected.Store(true)
	err := p.Signal(syscall.SIGKILL)
	p.over()
	return err
}

// kill ends the process, and returns when it has ended.
func (p *nodeRun) kill() {
	p.expected.Store(true)
	p.Kill()
}

// goesOn reports whether the process runs or sleeps. If it was stopped, another process has then
// continued it, as the journal does with the holder of its lock.
func (p *nodeRun) goesOn() bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/stat")
	_, state, ok := bytes.Cut(stat, []byte(") "))
	return err == nil && ok && (state[0] == 'R' || state[0] == 'S')
}

// await waits until the process has ended.
func (p *nodeRun) await(limit time.Duration) error {
	select {
	case <-p.Done():
		return nil
	case <-time.After(limit):
		return fmt.Errorf("%s has not ended within %v", p.name, limit)
	}
}

// killed reports whether the process has ended by SIGKILL.
func (p *nodeRun) killed() bool {
	status := p.Status()
	return status.Signaled() && status.Signal() == syscall.SIGKILL
}
