package sharding_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

// example runs f as a test, and prints how it fails.
func example(f func(t testing.TB)) {
	t, done := &exampleTest{}, make(chan struct{})
	go func() {
		defer close(done)
		f(t)
	}()
	<-done
	for _, g := range slices.Backward(t.cleanups) {
		g()
	}
}

// An exampleTest is the test in an example.
type exampleTest struct {
	testing.TB
	cleanups []func()
}

func (*exampleTest) Helper()                   {}
func (*exampleTest) Name() string              { return "example" }
func (*exampleTest) Failed() bool              { return false }
func (*exampleTest) Logf(string, ...any)       {}
func (*exampleTest) Context() context.Context  { return context.Background() }
func (t *exampleTest) Cleanup(g func())        { t.cleanups = append(t.cleanups, g) }
func (*exampleTest) Errorf(f string, v ...any) { fmt.Printf(f+"\n", v...) }

func (t *exampleTest) Fatalf(f string, v ...any) {
	t.Errorf(f, v...)
	runtime.Goexit()
}
