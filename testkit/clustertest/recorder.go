package clustertest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// maxLog is how many lines of its log a run keeps: the last.
const maxLog = 60

// A recorder is the testing.TB of a run that may fail without failing the test.
type recorder struct {
	testing.TB

	mu       sync.Mutex // guards all below
	failed   bool
	failure  string // the first
	log      []string
	cleanups []func()
}

// Cleanup implements [testing.TB].
func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// cleanUp runs the cleanup functions, last in first out.
func (r *recorder) cleanUp() {
	for {
		r.mu.Lock()
		last := len(r.cleanups) - 1
		if last < 0 {
			r.mu.Unlock()
			return
		}
		f := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		r.mu.Unlock()
		alone(f)
	}
}

// alone runs f in a goroutine that it may end.
func alone(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (r *recorder) note(text string, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed && !r.failed {
		r.failed, r.failure = true, text
	}
	if text != "" {
		r.log = append(r.log, text)
		r.log = slices.Delete(r.log, 0, max(0, len(r.log)-maxLog))
	}
}

// result returns the first failure.
func (r *recorder) result() (failure string, failed bool, log []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure, r.failed, slices.Clone(r.log)
}

func (r *recorder) Helper()                   {}
func (r *recorder) Log(args ...any)           { r.note(fmt.Sprintln(args...), false) }
func (r *recorder) Logf(f string, a ...any)   { r.note(fmt.Sprintf(f, a...), false) }
func (r *recorder) Error(args ...any)         { r.note(fmt.Sprintln(args...), true) }
func (r *recorder) Errorf(f string, a ...any) { r.note(fmt.Sprintf(f, a...), true) }
func (r *recorder) Fail()                     { r.note("", true) }

// Failed implements [testing.TB].
func (r *recorder) Failed() bool {
	_, failed, _ := r.result()
	return failed
}

// FailNow implements [testing.TB]: it ends the run.
func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

// Fatal implements [testing.TB].
func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

// Fatalf implements [testing.TB].
func (r *recorder) Fatalf(f string, a ...any) {
	r.Errorf(f, a...)
	runtime.Goexit()
}
