package clustertest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// The last lines are kept.
const maxLog = 60

// A run may fail without failing the test.
type recorder struct {
	testing.TB

	mu       sync.Mutex // guards all below
	failed   bool
	failure  string
	log      []string
	cleanups []func()
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// The last in is the first out.
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

// f may end its goroutine.
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

func (r *recorder) Failed() bool {
	_, failed, _ := r.result()
	return failed
}

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(f string, a ...any) {
	r.Errorf(f, a...)
	runtime.Goexit()
}
