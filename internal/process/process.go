// Package process starts other processes: a server, or this program once more with other arguments
// or another environment. A process ends with the process that started it. On Linux the kernel
// kills it. On all systems its standard input ends, which it can wait for with [UntilEOF].
package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A Process is a process that was started by [Start]. Its methods may be called by any goroutine,
// but only one may read lines.
type Process struct {
	cmd   *exec.Cmd
	input io.Closer
	tell  io.Writer
	lines *bufio.Scanner
	end   func() error
	done  chan struct{}
}

// In bytes.
const maxLine = 64 << 20

// Self returns the command that runs this program once more. The command has the environment of
// this process and variables, each as "key=value". It writes errors to the standard error of this
// process.
func Self(variables []string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), variables...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Start starts a command. [Process.Line] returns the lines of its standard output, unless the
// command has a Stdout. Read them until they end, or the process blocks.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	endWithParent(cmd.SysProcAttr)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.input, p.tell = input, input
	var out io.Reader = eof{}
	if cmd.Stdout == nil {
		if out, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	p.lines = bufio.NewScanner(out)
	p.lines.Buffer(nil, maxLine)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p.end = sync.OnceValue(func() error {
		defer close(p.done)
		return cmd.Wait()
	})
	return p, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Line waits for the next line of the process; ok is false when there are no more.
func (p *Process) Line() (line string, ok bool) {
	if p.lines.Scan() {
		return p.lines.Text(), true
	}
	return "", false
}

// Rest returns the lines that follow, until the output of the process ends.
func (p *Process) Rest() (lines []string) {
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		lines = append(lines, line)
	}
	return lines
}

// Tell writes a line to the standard input of the process.
func (p *Process) Tell(line string) error {
	_, err := io.WriteString(p.tell, line+"\n")
	return err
}

// EndInput closes the standard input of the process, without waiting for its end.
func (p *Process) EndInput() { _ = p.input.Close() } // it has ended if this fails

// Signal sends a signal to the process.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill ends the process with SIGKILL, unless it has ended, and waits for its end. Output that was
// not read is lost.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.Wait() // it was killed
}

// Wait waits until the process has ended, and returns the result of [exec.Cmd.Wait]. Lines that
// were not read by then are lost.
func (p *Process) Wait() error { return p.end() }

// Done returns a channel that is closed when the process has ended and Wait or Kill was called.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether Done is closed.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Status returns how the process has ended. Call it when Done is closed.
func (p *Process) Status() syscall.WaitStatus {
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status
}

// UntilEOF returns a context that is done when the standard input of this process ends.
func UntilEOF() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}

// FreeAddresses returns n different addresses of the loopback interface with ports that are free
// now.
func FreeAddresses(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they differ
		all = append(all, l.Addr().String())
	}
	return all, nil
}
