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

	// Drive does what clients do: it begins runs, sends signals, and waits for results. It is
	// called for each process until it returns nil, so it may do everything twice. Its context ends
	// when the process crashes. An error that it returns before that fails the test.
	//
	// A run for whose result Drive waits stays in memory, and each virtual week of that takes
	// seconds. Call time.Sleep before, or give the run shorter times.
	Drive func(ctx context.Context, s *actor.System) error

	// Check fails t if the world is not as it must be. It is called once, when Drive has returned.
	Check func(t testing.TB)
}

// maxPoints bounds the points of a story.
const maxPoints = 2000

// patience bounds one story, in virtual time.
const patience = 366 * 24 * time.Hour

// CrashEverywhere runs a story again and again, in virtual time. Each time its process crashes
// at another point: right before something is appended to the journal, when the effects are there
// that lead to it, or right after, when nobody knows that it is stored. Then another process goes
// on with the same journal. It ends when a story comes to its end without a new point. A point is
// known by what is appended, since goroutines need not have the same order each time.
//
// story makes a fresh world and the story in it. Functions of steps that run at the time of the
// crash end with their context, so a step should watch that.
func CrashEverywhere(t *testing.T, story func(t testing.TB) Story) {
	t.Helper()
	known := map[string]bool{}
	for range maxPoints {
		crashed := false
		ok := t.Run(fmt.Sprintf("point %d", len(known)+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { crashed = crashAt(t, story(t), known) })
		})
		if !ok || !crashed {
			return
		}
	}
	t.Fatalf("the story has more than %d points at which to crash; make it shorter", maxPoints)
}

// crashAt runs a story with a crash at the first point that is not known, and reports whether it
// came to that.
func crashAt(t *testing.T, s Story, known map[string]bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	store := journal.NewMemory()
	j := &mortal{Memory: store, known: known, dead: make(chan struct{})}
	err := live(ctx, t, s, j, j.dead)
	crashed := j.died()
	if crashed {
		t.Logf("crashed %s", j.at)
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
	system := testkit.NewSystem(t, persistence.WithJournal(j)) //nolint:contextcheck,nolintlint // it ends with t
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
		<-driven //nolint:errcheck // the story may not be done
	}
	return errors.Join(err, system.Shutdown(context.WithoutCancel(ctx)))
}

// A mortal is a journal that is gone after some appends, as for a process that dies.
type mortal struct {
	*journal.Memory

	mu    sync.Mutex      // guards the fields below
	known map[string]bool // points at which others have died
	at    string          // where it has died
	dead  chan struct{}
}

// Append stores the requests, unless it has died; if it dies afterwards, nobody hears of it.
func (m *mortal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	points := pointsOf(reqs)
	if m.reached("before", points) {
		return refused(reqs)
	}
	errs := m.Memory.Append(ctx, reqs)
	if m.reached("after", points) {
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

// reached reports whether the journal is dead. It dies at a point that is not known.
func (m *mortal) reached(when string, points []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.dead:
		return true
	default:
	}
	fresh := false
	for _, p := range points {
		fresh = fresh || !m.known[when+p]
		m.known[when+p] = true
	}
	if fresh {
		m.at = when + " the append of" + strings.Join(points, ",")
		close(m.dead)
	}
	return fresh
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

// pointsOf returns what is appended.
func pointsOf(reqs []journal.AppendRequest) (all []string) {
	for _, req := range reqs {
		for i := range req.Records {
			r := &req.Records[i]
			e := struct {
				What, Name, Signal string
				Attempt            int
			}{What: fmt.Sprint("event ", r.Seq)} // of an actor that is no run
			if stored, err := persistence.Stored(nil, r); err == nil {
				_ = stored.Decode(&e)
			}
			all = append(all, strings.TrimRight(fmt.Sprintf(" %s: %s %s%s", req.ID, e.What, e.Name, e.Signal), " ")+number(e.Attempt))
		}
		for _, timer := range req.Timers {
			if len(req.Records) == 0 {
				all = append(all, fmt.Sprintf(" %s: timer %s%s", req.ID, timer.Key, number(int(timer.Attempt))))
			}
		}
	}
	return all
}

func number(attempt int) string {
	if attempt < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d)", attempt)
}
