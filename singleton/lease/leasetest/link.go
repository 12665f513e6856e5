package leasetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

var errLink = errors.New("leasetest: the link to the store is down")

// A link is what is between one holder and the store, with faults.
type link struct {
	t     *testing.T
	store lease.Store

	mu       sync.Mutex // guards all below
	open     int        // requests under way
	requests int        // in all
	down     bool
	lose     int           // that many answers to come
	delay    time.Duration // before each request
	deaf     chan struct{} // requests hang until it is closed, whatever their context says
	hang     bool          // requests hang until their context ends
	rng      *rand.Rand    // of random faults; nil for none
	unit     time.Duration // … which take about as long
}

func newLink(t *testing.T, store lease.Store) *link { return &link{t: t, store: store} }

// cut lets all requests fail, without being carried out.
func (l *link) cut() { l.set(func() { l.down = true }) }

// loseAnswers lets the next n requests be carried out, and fail.
func (l *link) loseAnswers(n int) { l.set(func() { l.lose = n }) }

func (l *link) slow(d time.Duration) { l.set(func() { l.delay = d }) }

// stall lets requests hang until their context ends.
func (l *link) stall() { l.set(func() { l.hang = true }) }

// stallDeaf lets requests hang until heal, whatever their context says.
func (l *link) stallDeaf() { l.set(func() { l.deaf = make(chan struct{}) }) }

func (l *link) trouble(rng *rand.Rand, unit time.Duration) {
	l.set(func() { l.rng, l.unit = rng, unit })
}

func (l *link) heal() {
	l.set(func() {
		if l.deaf != nil {
			close(l.deaf)
		}
		l.down, l.lose, l.delay, l.deaf, l.hang, l.rng = false, 0, 0, nil, false, nil
	})
}

func (l *link) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *link) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests
}

func (l *link) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	return l.request(ctx, func(ctx context.Context) (lease.Grant, error) { return l.store.Take(ctx, c) })
}

func (l *link) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	return l.request(ctx, func(ctx context.Context) (lease.Grant, error) { return l.store.Renew(ctx, g) })
}

func (l *link) Release(ctx context.Context, g lease.Grant) error {
	_, err := l.request(ctx, func(ctx context.Context) (lease.Grant, error) { return lease.Grant{}, l.store.Release(ctx, g) })
	return err
}

type plan struct {
	delay, answer time.Duration // before it is sent, and before its answer is there
	deaf          chan struct{}
	hang          bool
	lost          bool // the answer
}

func (l *link) request(ctx context.Context, send func(context.Context) (lease.Grant, error)) (lease.Grant, error) {
	p, err := l.begin()
	defer l.set(func() { l.open-- })
	if err != nil {
		return lease.Grant{}, err
	}
	if p.deaf != nil {
		<-p.deaf
	}
	if p.hang {
		<-ctx.Done()
	}
	if !wait(ctx, p.delay) {
		return lease.Grant{}, ctx.Err()
	}
	g, err := send(ctx)
	if !wait(ctx, p.answer) {
		return lease.Grant{}, ctx.Err()
	}
	if p.lost {
		return lease.Grant{}, errLink
	}
	return g, err
}

func wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *link) begin() (plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.open++
	if l.open > 1 {
		l.t.Error("two requests of one holder are under way at once")
	}
	if l.down {
		return plan{}, errLink
	}
	p := plan{delay: l.delay, deaf: l.deaf, hang: l.hang, lost: l.lose > 0}
	if p.lost {
		l.lose--
	}
	if l.rng != nil {
		return l.random()
	}
	return p, nil
}

// random draws what happens to a request: half of them have no trouble.
func (l *link) random() (plan, error) {
	delay := time.Duration(l.rng.Float64() * float64(l.unit))
	switch l.rng.IntN(12) {
	case 0:
		return plan{}, errLink
	case 1:
		return plan{lost: true}, nil
	case 2:
		return plan{answer: delay, lost: true}, nil
	case 3:
		return plan{hang: true}, nil
	case 4:
		return plan{delay: delay}, nil
	case 5:
		return plan{answer: delay}, nil
	default:
		return plan{}, nil
	}
}
