package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// New returns owner's handle of the lease with that name in store. It does no I/O. Goroutines run
// only while the lease is held or released, so nothing needs to be closed.
//
// Each handle is a contender of its own, even if another handle has the same owner: a random suffix
// makes the holder in the store unique.
//
// The holder's lease ends TTL*(1-2*Drift) after the last successful request was sent, by the clock
// of [Settings] that has advanced further. A request in flight is then cancelled. Acquire and
// Release ask once more when an answer is lost. If an Acquire fails, or its context ends, what it
// may have won is released in the background, for up to TTL. After a loss nothing is released until
// Release or Acquire is called, because what the lease protects may still be running. AcquireAbove
// gives up a held token that is not above floor: the lease is not valid until there is a new one. A
// panic of an OnLost handler is recovered and not reported.
//
// The returned Lease has four more methods:
//
//   - TTL() time.Duration
//   - Reserve(by string) (free func(), err error) fails while the handle is reserved.
//   - ObserveRenewals(f func(took time.Duration)) has f called with the time that each request to
//     renew took, whatever its outcome. It replaces the function that was given before.
//   - Abandon() is for tests of crashes: the lease is neither renewed nor released any more, so it
//     expires.
//
// New returns an error that names the name, owner or setting that is not valid.
func New(store Store, name, owner string, s Settings) (Lease, error) {
	if store == nil {
		return nil, errors.New("lease: the store is nil; pass the backend that stores the lease")
	}
	if err := validateNames(name, owner); err != nil {
		return nil, err
	}
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return nil, err
	}
	c := Claim{Name: name, Holder: owner + "/" + rand.Text(), TTL: s.TTL}
	return &keeper{
		store: store, clock: s.Clock, bound: s.bound(), label: fmt.Sprintf("%s of %s", name, owner),
		machine: newMachine(c, s), acquires: map[int]chan acAcquired{}, releases: map[int]chan acReleased{},
		handlers: map[int]func(error){},
	}, nil
}

// A keeper runs a machine: it carries out the machine's actions, and passes it the answers.
type keeper struct {
	store Store
	clock Clock
	bound time.Duration
	label string

	validity atomic.Pointer[validity] // nil when the lease is not held
	token    atomic.Uint64
	renewed  atomic.Pointer[func(took time.Duration)]

	mu       sync.Mutex // guards all below
	machine  *machine
	stopWake func()
	cancel   context.CancelFunc // of the request in flight
	lastID   int
	acquires map[int]chan acAcquired
	releases map[int]chan acReleased
	handlers map[int]func(reason error)
	user     string // the user that has reserved it; "" for none

	abandoned bool
	broken    error // its clock has failed; nil while it has not
}

// validity is the time from which a held lease counts, until it is renewed.
type validity struct {
	sent    moment
	doubted atomic.Bool
}

func (k *keeper) String() string { return k.label }

func (k *keeper) Token() uint64 { return k.token.Load() }

func (k *keeper) Valid() bool {
	v := k.validity.Load()
	if v == nil {
		return false
	}
	now, err := clockNow(k.clock)
	if err == nil && now.since(v.sent) < k.bound {
		return true
	}
	if v.doubted.CompareAndSwap(false, true) {
		go k.doubt(err)
	}
	return false
}

func (k *keeper) Acquire(ctx context.Context) (bool, error) { return k.AcquireAbove(ctx, 0) }

func (k *keeper) AcquireAbove(ctx context.Context, floor uint64) (bool, error) {
	if floor == math.MaxUint64 {
		return false, fmt.Errorf("acquire lease %q: there is no token above %d", k.machine.claim.Name, floor)
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("acquire lease %q: %w", k.machine.claim.Name, err)
	}
	answer := make(chan acAcquired, 1)
	k.mu.Lock()
	k.lastID++
	id := k.lastID
	k.acquires[id] = answer
	k.stepLocked(evAcquire{id: id, floor: floor}) //nolint:contextcheck // a request outlives the call that leads to it
	k.mu.Unlock()
	select {
	case a := <-answer:
		return a.held, a.err
	case <-ctx.Done():
	}
	k.mu.Lock()
	delete(k.acquires, id)
	k.stepLocked(evAbandon{id: id}) //nolint:contextcheck // a request outlives the call that leads to it
	k.mu.Unlock()
	select {
	case a := <-answer: // the answer came first
		return a.held, a.err
	default:
		return false, fmt.Errorf("acquire lease %q: %w", k.machine.claim.Name, ctx.Err())
	}
}

func (k *keeper) Release(ctx context.Context) error {
	answer := make(chan acReleased, 1)
	k.mu.Lock()
	k.lastID++
	id := k.lastID
	k.releases[id] = answer
	k.stepLocked(evRelease{id: id}) //nolint:contextcheck // a request outlives the call that leads to it
	k.mu.Unlock()
	select {
	case a := <-answer:
		return a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answer:
		return a.err
	default:
		return fmt.Errorf("release lease %q: %w", k.machine.claim.Name, ctx.Err())
	}
}

func (k *keeper) OnLost(f func(reason error)) (cancel func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastID++
	id := k.lastID
	k.handlers[id] = f
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.handlers, id)
	}
}

// Reserve prevents a second user of this handle. Acquire succeeds at once for a handle that holds
// the lease, so two users would both believe to hold it. The error names the user.
func (k *keeper) Reserve(by string) (free func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.user != "" {
		return nil, fmt.Errorf("lease %s is used by %s", k.label, k.user)
	}
	k.user = by
	return sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.user = ""
	}), nil
}

// Abandon ends the lease for its holder as the end of the process would: it is no longer renewed or
// released, so it expires in its store. It cannot be undone.
func (k *keeper) Abandon() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.abandoned = true
	k.validity.Store(nil)
	_ = guard.Do(k.stopAlarm) // nothing relies on the clock any more
	if k.cancel != nil {
		k.cancel()
	}
}

func (k *keeper) ObserveRenewals(f func(took time.Duration)) { k.renewed.Store(&f) }

func (k *keeper) TTL() time.Duration { return k.machine.settings.TTL }

func (k *keeper) step(ev any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stepLocked(ev)
}

func (k *keeper) stepLocked(ev any) {
	if k.abandoned {
		return
	}
	if k.broken != nil {
		k.decline()
		return
	}
	now, err := clockNow(k.clock)
	if err == nil {
		for _, ac := range k.machine.step(now, ev) {
			k.do(ac)
		}
		err = k.setAlarm(now)
	}
	if err != nil {
		k.fail(err)
	}
}

func (k *keeper) do(ac any) {
	switch ac := ac.(type) {
	case acSend:
		ctx, cancel := context.WithCancel(context.Background())
		k.cancel = cancel
		go func() {
			defer cancel()
			g, err := k.request(ctx, ac)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = errTimeout // the keeper has cancelled it: nobody else does
			}
			k.step(evAnswer{grant: g, err: err}) //nolint:contextcheck // a request outlives the call that leads to it
		}()
	case acCancel:
		k.cancel()
	case acValid:
		k.token.Store(ac.token)
		k.validity.Store(&validity{sent: ac.sent})
	case acInvalid:
		k.validity.Store(nil)
	case acLost:
		for _, f := range k.handlers {
			go tell(f, ac.reason)
		}
	case acAcquired:
		if answer, ok := k.acquires[ac.id]; ok {
			answer <- ac
			delete(k.acquires, ac.id)
		}
	case acReleased:
		k.releases[ac.id] <- ac
		delete(k.releases, ac.id)
	}
}

// errTimeout is the error of a request that the keeper has cancelled.
var errTimeout = fmt.Errorf("the store has not answered in time: %w", context.DeadlineExceeded)

// request sends a request to the store. A request that panics may have been carried out, like any
// that fails.
func (k *keeper) request(ctx context.Context, ac acSend) (g Grant, err error) {
	panicked := guard.Apart(func() { g, err = k.ask(ctx, ac) })
	if panicked != nil {
		return Grant{}, fmt.Errorf("in the store: %w", panicked)
	}
	return g, err
}

func (k *keeper) ask(ctx context.Context, ac acSend) (Grant, error) {
	switch ac.op {
	case opTake:
		return k.store.Take(ctx, ac.claim)
	case opRenew:
		if f := k.renewed.Load(); f != nil {
			defer func(sent time.Time) { (*f)(time.Since(sent)) }(time.Now())
		}
		return k.store.Renew(ctx, ac.grant)
	case opRelease:
		return Grant{}, k.store.Release(ctx, ac.grant)
	case opNone:
	}
	panic("lease: a request for nothing")
}

func tell(f func(reason error), reason error) {
	_ = guard.Apart(func() { f(reason) })
}
