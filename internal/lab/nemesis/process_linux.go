package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// A process is one process of a node.
type process struct {
	node     string
	name     string // of the node, and which process of it
	cmd      *exec.Cmd
	done     chan struct{} // closed when it has ended
	err      error         // how; read it once done is closed
	expected atomic.Bool   // it has been told to end, one way or the other
}

// startProcess runs this program again, as a node, in the namespace of that node. It
// ends with this process, however that ends.
func startProcess(cfg nodeConfig, log *os.File) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("ip", "netns", "exec", space(cfg.Place), self) // it becomes self: the pid stays
	cmd.Env = append(os.Environ(), nodeEnv+"="+string(text))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Process, err)
	}
	p := &process{node: cfg.Name, name: cfg.Process, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) signal(sig syscall.Signal) error { return p.cmd.Process.Signal(sig) }

// kill ends the process, and returns when it has ended.
func (p *process) kill() {
	p.expected.Store(true)
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// goesOn reports whether the process runs or sleeps: one that was stopped has been continued
// then, as the journal does with whoever holds its lock.
func (p *process) goesOn() bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	_, state, ok := bytes.Cut(stat, []byte(") "))
	return err == nil && ok && (state[0] == 'R' || state[0] == 'S')
}

// await waits until the process has ended.
func (p *process) await(limit time.Duration) error {
	select {
	case <-p.done:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("%s has not ended within %v", p.name, limit)
	}
}

// killed reports whether the process has ended by SIGKILL.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
