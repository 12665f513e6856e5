package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

// A tape is a lease with preset answers. It records each request and its time.
type tape struct {
	lease.Lease
	answer func(context.Context) (bool, error)
	begin  time.Time
	mu     sync.Mutex // guards the fields below
	taken  []time.Duration
	given  []time.Duration
	held   bool
}

func (l *tape) AcquireAbove(ctx context.Context, _ uint64) (bool, error) {
	l.mu.Lock()
	l.taken = append(l.taken, time.Since(l.begin))
	l.mu.Unlock()
	held, err := l.answer(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held && err == nil
	return held, err
}

func (l *tape) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *tape) Token() uint64 { return 1 }

func (l *tape) OnLost(func(error)) (cancel func()) { return func() {} }

func (l *tape) Release(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given, l.held = append(l.given, time.Since(l.begin)), false
	return nil
}

func (l *tape) acquisitions() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

func (l *tape) releases() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given
}

// A leaseNode is a node that can only ask for leases.
type leaseNode struct {
	*leasing
	inbox *inbox
	abort context.CancelFunc
	tasks sync.WaitGroup
}

func (n *leaseNode) acquire(a membership.AcquireLease) {
	n.leasing.acquire(a, func(in membership.Input) { n.inbox.post(7, in) })
}

func newLeaseNode(t *testing.T, answer func(context.Context) (bool, error)) (*leaseNode, *tape, downing.Ask) {
	aborted, abort := context.WithCancel(context.Background())
	n := &leaseNode{leasing: &leasing{aborted: aborted, system: testkit.NewSystem(t), log: zap.NewNop()}, inbox: newInbox(), abort: abort}
	l := &tape{answer: answer, begin: time.Now()}
	return n, l, downing.Ask{Lease: l, Timeout: 5 * time.Second, Hold: 40 * time.Second}
}

func yes(context.Context) (bool, error) { return true, nil }

func TestALeaseIsGivenBackAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, yes)
		n.acquire(membership.AcquireLease{Number: 3, Ask: ask})
		require.Equal(t, []envelope{{7, membership.LeaseAnswered{Number: 3, Held: true}}}, n.inbox.take())
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{40 * time.Second}, l.releases())
	})
}

func TestALeaseThatIsAskedForAgainIsHeldForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, yes)
		n.tasks.Go(func() { n.acquire(membership.AcquireLease{Number: 1, Ask: ask}) })
		time.Sleep(30 * time.Second)
		n.tasks.Go(func() { n.acquire(membership.AcquireLease{Number: 2, Ask: ask}) })
		n.tasks.Wait()
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{0, 30 * time.Second}, l.acquisitions())
		require.Equal(t, []time.Duration{70 * time.Second}, l.releases())
	})
}

func TestALeaseIsNotGivenBackByANodeThatEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, yes)
		n.tasks.Go(func() { n.acquire(membership.AcquireLease{Number: 1, Ask: ask}) })
		time.Sleep(time.Second)
		n.abort()
		n.tasks.Wait()
		require.Empty(t, l.releases(), "the losing side may still ask")
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{40 * time.Second}, l.releases(), "the process may live on")
	})
}

func TestAnErrorIsANoButTheLeaseMayBeOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, func(context.Context) (bool, error) { return true, errors.New("lost connection") })
		n.acquire(membership.AcquireLease{Number: 1, Ask: ask})
		require.Equal(t, []envelope{{7, membership.LeaseAnswered{Number: 1}}}, n.inbox.take())
		time.Sleep(time.Hour)
		require.Len(t, l.releases(), 1)
	})
}

func TestALeaseOfAnotherIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, func(context.Context) (bool, error) { return false, nil })
		n.acquire(membership.AcquireLease{Number: 1, Ask: ask})
		require.Equal(t, []envelope{{7, membership.LeaseAnswered{Number: 1}}}, n.inbox.take())
		time.Sleep(time.Hour)
		require.Empty(t, l.releases())
	})
}

func TestASilentLeaseIsLeftAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		})
		n.tasks.Go(func() { n.acquire(membership.AcquireLease{Number: 1, Ask: ask}) })
		time.Sleep(ask.Timeout)
		synctest.Wait()
		require.Equal(t, []envelope{{7, membership.LeaseAnswered{Number: 1}}}, n.inbox.take())
		n.tasks.Wait()
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{45 * time.Second}, l.releases())
	})
}

func TestALeaseThatBlocksIsANoAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, ask := newLeaseNode(t, func(context.Context) (bool, error) {
			time.Sleep(time.Minute)
			return true, nil
		})
		n.acquire(membership.AcquireLease{Number: 1, Ask: ask})
		require.Equal(t, ask.Timeout, time.Since(l.begin))
		require.Equal(t, []envelope{{7, membership.LeaseAnswered{Number: 1}}}, n.inbox.take())
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{time.Minute}, l.releases(), "what it has won then is given back")
	})
}
