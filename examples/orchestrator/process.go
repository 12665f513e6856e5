package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// processes runs each store as a separate process of this program.
type processes struct {
	seeds, journal string
	running        map[string]*process
}

// A process is one store. It ends when its standard input is closed, so no store outlives this
// process.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
	said  bytes.Buffer
}

// Start starts a store.
func (p *processes) Start(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s := &process{cmd: exec.Command(self, "-node", name, "-seeds", p.seeds, "-journal", p.journal)}
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	p.running[name] = s
	return nil
}

// Kill kills a store with SIGKILL.
func (p *processes) Kill(name string) error {
	s := p.running[name]
	if s == nil {
		return fmt.Errorf("%s does not run", name)
	}
	delete(p.running, name)
	if err := s.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("%s has ended before: %w\n%s", name, err, s.said.String())
	}
	_ = s.cmd.Wait() // it was killed
	return nil
}

// close makes all stores leave, and returns their errors.
func (p *processes) close() error {
	var errs []error
	for _, s := range p.running {
		_ = s.input.Close()
	}
	for name, s := range p.running {
		if err := s.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w\n%s", name, err, strings.TrimSpace(s.said.String())))
		}
	}
	return errors.Join(errs...)
}
