// Package workflowtest tests workflows: [CrashEverywhere] runs a story once for each point at which
// its process could die, [Replace] puts functions in the place of steps, and [Replay] runs stored
// runs with the present program.
//
// This package is experimental: a minor release may change it.
package workflowtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A Story is what [CrashEverywhere] runs.
type Story struct {
	// Start starts the types of workflows. It is called for each process: at the beginning, and
	// after the crash.
	Start func(s *actor.System) error

	// Drive does what clients do: it begins runs, sends signals, and waits for results. It is called
	// for each process until it returns nil, so it may do everything twice. Its context ends when
	// the process crashes. An error that it returns before that fails the test.
	Drive func(ctx context.Context, s *actor.System) error

	// Check fails t if the world is not as it must be. It is called once, when Drive has returned.
	Check func(t testing.TB)
}

// maxPoints bounds the points of a story.
const maxPoints = 2000

// patience bounds one story, in virtual time.
const patience = 366 * 24 * time.Hour

// CrashEverywhere runs a story again and again, in virtual time, and each time its process crashes
// at another point: right before something is appended to the journal, when the effects are there
// that lead to it, or right after, when nobody knows that it is stored. Then another process goes on
// with the same journal. It begins with the first append and ends when a story comes to its end
// without a crash.
//
// story makes a fresh world and the story in it. Functions of steps that run at the time of the
// crash end with their context, so a step should watch that.
func CrashEverywhere(t *testing.T, story func(t testing.TB) Story) {
	t.Helper()
	for point := range maxPoints {
		crashed := false
		name := fmt.Sprintf("append %d, before", point/2+1)
		if point%2 == 1 {
			name = fmt.Sprintf("append %d, after", point/2+1)
		}
		ok := t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { crashed = crashAt(t, story(t), point) })
		})
		if !ok || !crashed {
			return
		}
	}
	t.Fatalf("the story has more than %d points at which to crash; make it shorter", maxPoints)
}

// crashAt runs a story with a crash, and reports whether it came to that.
func crashAt(t *testing.T, s Story, point int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	store := journal.NewMemory()
	j := &mortal{Memory: store, left: point, dead: make(chan struct{})}
	err := live(ctx, t, s, j, j.dead)
	crashed := j.died()
	if crashed {
		t.Logf("crashed at the append of %s", j.at)
		err = live(ctx, t, s, store, nil)
	}
	if err != nil {
		t.Fatalf("the story has not come to its end: %v", err)
	}
	s.Check(t)
	return crashed
}

// live runs a process until Drive has returned, or it dies.
func live(ctx context.Context, t *testing.T, s Story, j persistence.Journal, dead <-chan struct{}) error {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	system := testkit.NewSystem(t, persistence.WithJournal(j))
	if err := s.Start(system); err != nil {
		t.Fatalf("the types could not be started: %v", err)
	}
	driven := make(chan error, 1)
	go func() { driven <- s.Drive(ctx, system) }()
	var err error
	select {
	case err = <-driven:
	case <-dead:
		cancel()
		<-driven
	}
	return errors.Join(err, system.Shutdown(context.WithoutCancel(ctx)))
}

// A mortal is a journal that is gone after some appends, as for a process that dies.
type mortal struct {
	*journal.Memory

	mu   sync.Mutex // guards the fields below
	left int        // points until it dies: two for each append
	at   string     // what was appended then
	dead chan struct{}
}

// Append stores the requests, unless it has died; if it dies afterwards, nobody hears of it.
func (m *mortal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if m.reached(reqs) {
		return refused(reqs)
	}
	errs := m.Memory.Append(ctx, reqs)
	if m.reached(reqs) {
		return refused(reqs)
	}
	return errs
}

// Claim fails once the journal has died.
func (m *mortal) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	if m.died() {
		return journal.Claim{}, journal.ErrClosed
	}
	return m.Memory.Claim(ctx, id, w, b)
}

// reached counts a point, and reports whether the journal is dead.
func (m *mortal) reached(reqs []journal.AppendRequest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.dead:
		return true
	default:
	}
	if m.left > 0 {
		m.left--
		return false
	}
	m.at = text(reqs)
	close(m.dead)
	return true
}

func (m *mortal) died() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

func refused(reqs []journal.AppendRequest) []error {
	errs := make([]error, len(reqs))
	for i := range errs {
		errs[i] = journal.ErrClosed
	}
	return errs
}

// text says what is appended.
func text(reqs []journal.AppendRequest) (all string) {
	for _, req := range reqs {
		all += req.ID + ":"
		for i := range req.Records {
			var e struct{ What, Name, Signal string }
			if stored, err := persistence.Stored(nil, &req.Records[i]); err == nil {
				_ = stored.Decode(&e) // an event of another package has no such fields
			}
			all += strings.TrimRight(fmt.Sprintf(" %s %s%s", e.What, e.Name, e.Signal), " ")
		}
		for _, timer := range req.Timers {
			all += " timer " + timer.Key
		}
	}
	return all
}
