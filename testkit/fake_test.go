package testkit_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

// inBubble runs f with a system in a bubble, in which time is virtual.
func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, testkit.NewSystem(t, testkit.WithoutEncoding()))
	})
}

// failing runs f as a test of its own, which must fail, and returns the failure.
func failing(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	fake := &fakeTest{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer fake.cleanUp()
		f(fake)
	}()
	<-done
	require.True(t, fake.failed, "it should have failed")
	return fake.complaint
}

// A fakeTest is a test that may fail without failing the test around it.
type fakeTest struct {
	testing.TB
	failed    bool
	complaint string
	log       string
	cleanups  []func()
}

func (f *fakeTest) Helper()                  {}
func (f *fakeTest) Failed() bool             { return f.failed }
func (f *fakeTest) Context() context.Context { return context.Background() }
func (f *fakeTest) Cleanup(g func())         { f.cleanups = append(f.cleanups, g) }

func (f *fakeTest) Logf(format string, args ...any) { f.log += fmt.Sprintf(format, args...) + "\n" }

func (f *fakeTest) Errorf(format string, args ...any) {
	f.failed, f.complaint = true, fmt.Sprintf(format, args...)
}

func (f *fakeTest) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *fakeTest) cleanUp() {
	for len(f.cleanups) > 0 {
		last := len(f.cleanups) - 1
		g := f.cleanups[last]
		f.cleanups = f.cleanups[:last]
		g()
	}
}

// soon sends what to p after d.
func soon[M any](p *testkit.Probe[M], d time.Duration, what M) {
	time.AfterFunc(d, func() { p.Ref().Tell(what) })
}
