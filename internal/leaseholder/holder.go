// Package leaseholder holds a lease for something that runs only while its node has one: the
// instance of a singleton, the shards of a type, the surviving side of a split. It is the only
// place that calls leases, which users may have written.
//
// A lease may panic, block for ever, answer late, or be lost at any moment. Whatever it does, each
// question to a [Holder] has one answer within a bound, and a user that was told that it has the
// lease is told of its loss, once, and after that answer.
package leaseholder

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton/lease"
)

const (
	acquirePatience = time.Minute // more than a lease of package lease takes with its defaults
	releasePatience = 5 * time.Second
)

var (
	// ErrLost is the error of an acquisition that succeeded, and whose lease was lost before the
	// answer.
	ErrLost = errors.New("the lease was lost before its holder knew of it")

	errSilent = errors.New("the lease does not answer; if it does so later, it is released")
)

// A Config says what a Holder holds, and for which user.
type Config struct {
	System    *actor.System // its tracer has a span for each acquisition
	User      string        // the name of the user, for spans and the errors of Reserve
	Singleton string        // the singleton that needs it, for spans; "" for none
	Reserve   bool          // no other user may have the same handle, if the lease can tell

	// Create returns the handle of the lease. If it fails, each acquisition tries again. It has
	// caught the panics of users' code.
	Create func() (lease.Lease, error)

	// Lost is called when the lease is lost of which Acquire has answered that it is held. It must
	// not block, and neither must the functions that answer.
	Lost func(reason error)

	Renewed func(took time.Duration) // is called for each renewal; nil: nobody wants to know
}

// A Holder holds one lease for one user. Any goroutine may call its methods.
//
// It makes one step at a time: an acquisition, a release or the report of a loss. A release that
// overtook an acquisition would leave a lease that nobody knows of, and that is renewed for ever.
// The report of a loss that overtook the answer would be one of a lease that the user does not
// know to have, and would be lost itself.
type Holder struct {
	cfg    Config
	lease  atomic.Pointer[guarded] // nil: not created yet
	halted atomic.Bool             // the lease must expire

	mu     sync.Mutex         // guards the fields below
	turn   <-chan struct{}    // closed when all steps so far are over
	giveUp context.CancelFunc // cancels the last acquisition

	// Only steps use the fields below.
	asked   bool     // and not released since
	held    bool     // Acquire has answered so, and neither a loss nor a release has followed
	cleanup []func() // removes what the holder has left with the lease
}

// An Answer is the result of an acquisition. Without an error, a lease that is not Held is
// another's.
type Answer struct {
	Held  bool
	Token uint64
	Err   error
}

// New returns a holder. When the system halts, the lease expires, as at the end of the process.
// Without [Holder.Close] the holder is kept until the system ends.
func New(cfg Config) *Holder {
	over := make(chan struct{})
	close(over)
	h := &Holder{cfg: cfg, turn: over, giveUp: func() {}}
	h.cleanup = []func(){extension.OnHalt(cfg.System, h.Abandon)}
	return h
}

// Open creates the handle before the first acquisition, so that the holder has its name. It
// returns an error if another user has reserved the handle. If the handle cannot be created yet,
// it returns nil.
func (h *Holder) Open() error {
	if l, err := h.cfg.Create(); err == nil {
		return h.use(guarded{l})
	}
	return nil
}

func (h *Holder) use(l guarded) error {
	if h.cfg.Reserve {
		free, err := l.reserve(h.cfg.User)
		if err != nil {
			return err
		}
		h.cleanup = append(h.cleanup, free)
	}
	h.cleanup = append(h.cleanup, l.onLost(h.lose))
	if h.cfg.Renewed != nil {
		l.observeRenewals(h.cfg.Renewed)
	}
	h.lease.Store(&l)
	if h.halted.Load() { // Abandon may have come before there was a lease
		l.abandon()
	}
	return nil
}

// Acquire asks for the lease, with a token that is greater than floor, and calls answer when it is
// known, when ctx ends or after a minute. If the lease is won later than that, it is released.
func (h *Holder) Acquire(ctx context.Context, floor uint64, answer func(Answer)) {
	ctx, cancel := context.WithTimeoutCause(ctx, acquirePatience, errSilent)
	first := once(answer)
	// The lease may not return when ctx ends. Its user does not wait for that.
	unwatch := context.AfterFunc(ctx, func() { first(Answer{Err: context.Cause(ctx)}) })
	h.mu.Lock()
	h.giveUp = cancel
	h.mu.Unlock()
	h.step(func() {
		defer cancel()
		a := h.attempt(ctx, floor)
		unwatch()
		h.held = first(a) && a.Held
		// Nobody knows of a lease that was won too late, that cannot tell its token, or that was
		// held under a lower token when ctx ended. Without a release it would be renewed for ever.
		if l := h.lease.Load(); l != nil && !h.held && (a.Held || l.valid()) {
			_ = h.giveBack() //nolint:contextcheck // the context of the acquisition may have ended
		}
	})
}

func (h *Holder) attempt(ctx context.Context, floor uint64) (a Answer) {
	if ctx.Err() != nil {
		return Answer{Err: context.Cause(ctx)}
	}
	l := h.lease.Load()
	if l == nil {
		created, err := h.cfg.Create()
		if err == nil {
			err = h.use(guarded{created})
		}
		if err != nil {
			return Answer{Err: err}
		}
		l = h.lease.Load()
	}
	h.asked = true
	a = h.traced(ctx, l, floor)
	// The loss may have been heard already, and its step waits behind this one, which says that
	// the lease is not held. So it is to be found here.
	if a.Held && !l.valid() {
		a.Held, a.Err = false, ErrLost
	}
	return a
}

// lose is a step of its own: while an acquisition runs, its answer comes first.
func (h *Holder) lose(reason error) {
	h.step(func() {
		// A lease that is valid has been acquired again since; the report is an old one.
		if h.held && !h.Valid() {
			h.held = false
			h.cfg.Lost(reason)
		}
	})
}

// Release releases the lease, also one that is being acquired, and calls done with the result
// after at most ten seconds. A loss that is heard from now on is not reported.
func (h *Holder) Release(done func(error)) {
	h.mu.Lock()
	giveUp := h.giveUp
	h.mu.Unlock()
	giveUp()
	first := once(done)
	late := time.AfterFunc(2*releasePatience, func() { first(errSilent) })
	h.step(func() {
		err := h.giveBack()
		late.Stop()
		first(err)
	})
}

// giveBack also runs when the user ends, whose context has ended then.
func (h *Holder) giveBack() error {
	h.held = false
	if !h.asked || h.halted.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
	defer cancel()
	err := h.lease.Load().release(ctx)
	h.asked = err != nil // the next release tries again
	return err
}

// Close releases the lease for good, waits for that, and returns its error. It takes up to ten
// seconds. Another user may reserve the handle afterwards.
func (h *Holder) Close() error {
	done := make(chan error, 1)
	h.Release(func(err error) { done <- err })
	cleaned := h.step(func() {
		for _, f := range h.cleanup {
			f()
		}
		h.cleanup = nil
	})
	err := <-done
	if !errors.Is(err, errSilent) {
		<-cleaned
	}
	return err
}

// Abandon treats the lease as the end of the process would: it is neither renewed nor released.
func (h *Holder) Abandon() {
	h.halted.Store(true)
	if l := h.lease.Load(); l != nil {
		l.abandon()
	}
}

// Valid reports whether the lease is certainly held now, by the local clock.
func (h *Holder) Valid() bool {
	l := h.lease.Load()
	return l != nil && l.valid()
}

// Outlook says, for logs, what becomes of a lease whose release has failed. A release that has
// panicked may not have ended it.
func (h *Holder) Outlook() string {
	if h.Valid() {
		return "it is still valid, and others get it only when this process ends"
	}
	return "it has to expire"
}

// String returns the name of the lease, for people.
func (h *Holder) String() string {
	if l := h.lease.Load(); l != nil {
		return Name(l.of)
	}
	return "not created yet by cluster.Config.Leases"
}

// step runs f in a goroutine of its own, after the earlier steps. A lease that blocks for ever
// keeps this goroutine and those of later steps, and nobody else.
func (h *Holder) step(f func()) (over <-chan struct{}) {
	mine := make(chan struct{})
	h.mu.Lock()
	before := h.turn
	h.turn = mine
	h.mu.Unlock()
	go func() {
		defer close(mine)
		<-before
		f()
	}()
	return mine
}

// once returns a function that calls f the first time, and reports whether it has.
func once[T any](f func(T)) func(T) bool {
	var called atomic.Bool
	return func(v T) bool {
		if called.Swap(true) {
			return false
		}
		f(v)
		return true
	}
}
