package main

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A pause keeps a process stopped. The journal continues one that holds its lock, so that
// it can finish its write; soon after that it is stopped again.
type pause struct {
	process *nodeRun
	over    chan struct{}
	done    sync.WaitGroup
	woken   int          // how often it was continued; read it once done
	ran     atomic.Int64 // until when it has run, by the clock
}

const (
	// glance is how often a stopped process is checked: another process may have continued it.
	glance = 10 * time.Millisecond

	// reprieve is how long a continued process may run before it is stopped again. On a busy
	// machine it must get a processor in that time, or it is stopped in the middle of the same
	// write.
	reprieve = 100 * time.Millisecond
)

func startPause(p *nodeRun) *pause {
	s := &pause{process: p, over: make(chan struct{})}
	s.stop()
	s.done.Go(s.keep)
	return s
}

func (s *pause) keep() {
	for s.lasts(glance) {
		if !s.process.goesOn() {
			continue
		}
		s.woken++
		s.ran.Store(int64(clock() + reprieve))
		if !s.lasts(reprieve) {
			return
		}
		s.stop()
	}
}

func (s *pause) stop() {
	_ = s.process.Signal(syscall.SIGSTOP) // it may have ended
	s.ran.Store(int64(clock()))
}

// ranUntil returns until when the process has run. A process that another one has continued may act
// during the reprieve, for instance renew a lease.
func (s *pause) ranUntil() time.Duration { return time.Duration(s.ran.Load()) }

// lasts waits, and reports whether neither the pause nor the process is over then.
func (s *pause) lasts(wait time.Duration) bool {
	select {
	case <-s.over:
		return false
	case <-s.process.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// end continues the process, and returns how often another process has continued it.
func (s *pause) end() int {
	close(s.over)
	s.done.Wait()
	_ = s.process.Signal(syscall.SIGCONT) // it may have ended
	return s.woken
}
