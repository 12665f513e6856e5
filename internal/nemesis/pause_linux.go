package main

import (
	"sync"
	"syscall"
	"time"
)

// A pause keeps a process stopped. The journal continues one that holds its lock, so that
// it can finish its write; soon after that it is stopped again.
type pause struct {
	process *process
	over    chan struct{}
	done    sync.WaitGroup
	woken   int // how often it was continued; read it once done
}

// reprieve is how long a process runs that was continued.
const reprieve = 100 * time.Millisecond

func startPause(p *process) *pause {
	s := &pause{process: p, over: make(chan struct{})}
	_ = p.signal(syscall.SIGSTOP) // it may have ended
	s.done.Go(s.keep)
	return s
}

func (s *pause) keep() {
	for {
		select {
		case <-s.over:
			return
		case <-s.process.done:
			return
		case <-time.After(reprieve):
		}
		if !s.process.stopped() {
			s.woken++
			_ = s.process.signal(syscall.SIGSTOP) // it may have ended
		}
	}
}

// end continues the process, and returns how often somebody else has.
func (s *pause) end() int {
	close(s.over)
	s.done.Wait()
	_ = s.process.signal(syscall.SIGCONT) // it may have ended
	return s.woken
}
