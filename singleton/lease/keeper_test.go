package lease_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

type losses struct {
	count  atomic.Int32
	reason atomic.Value
}

func lossesOf(l lease.Lease) *losses {
	var n losses
	l.OnLost(func(reason error) {
		n.reason.Store(reason)
		n.count.Add(1)
	})
	return &n
}

func acquire(t *testing.T, l lease.Lease) {
	t.Helper()
	ok, err := l.Acquire(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
}

func TestALeaseIsKeptUntilItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		a, b := store.Lease("x", "a", 120*time.Millisecond), store.Lease("x", "b", 120*time.Millisecond)
		lost := lossesOf(a)
		acquire(t, a)
		time.Sleep(time.Minute)
		require.True(t, a.Valid())
		ok, err := b.Acquire(t.Context())
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, a.Release(t.Context()))
		require.False(t, a.Valid())
		acquire(t, b)
		require.Greater(t, b.Token(), a.Token())
		require.NoError(t, b.Release(t.Context()))
		require.Zero(t, lost.count.Load())
	})
}

func TestALeaseIsLostBeforeItExpiresWhenTheStoreIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", 10*time.Second)
		lost := lossesOf(l)
		acquire(t, l)
		outage := errors.New("cable cut")
		store.SetOutage(outage)
		time.Sleep(9*time.Second - 1)
		require.True(t, l.Valid())
		time.Sleep(2 * time.Nanosecond)
		require.False(t, l.Valid())
		require.NotEmpty(t, store.Inspect("x").Holder)
		synctest.Wait()
		require.EqualValues(t, 1, lost.count.Load())
		require.ErrorIs(t, lost.reason.Load().(error), lease.ErrExpired)
		require.ErrorIs(t, lost.reason.Load().(error), outage)
		store.SetOutage(nil)
		before := l.Token()
		acquire(t, l)
		require.Greater(t, l.Token(), before)
		require.NoError(t, l.Release(context.Background()))
		require.Empty(t, store.Inspect("x").Holder)
	})
}

func TestHandlersAreCalledOncePerLossWhateverOthersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", time.Second)
		var removed atomic.Int32
		l.OnLost(func(error) { panic("a handler of the user's") })
		lost := lossesOf(l)
		l.OnLost(func(error) {
			if l.Valid() {
				t.Error("valid while it is told to be lost")
			}
		})
		cancel := l.OnLost(func(error) { removed.Add(1) })
		cancel()
		cancel()
		for n := range int32(3) {
			acquire(t, l)
			store.Usurp("x", "b", time.Second)
			time.Sleep(time.Second / 4)
			synctest.Wait()
			require.Equal(t, n+1, lost.count.Load())
			require.ErrorIs(t, lost.reason.Load().(error), lease.ErrLost)
			time.Sleep(time.Minute)
			require.Equal(t, n+1, lost.count.Load())
		}
		require.Zero(t, removed.Load())
	})
}

func TestAHandlerMayUseTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", time.Second)
		again := make(chan bool, 1)
		l.OnLost(func(error) {
			ok, err := l.Acquire(context.Background())
			again <- ok && err == nil
		})
		acquire(t, l)
		store.Delete("x")
		require.True(t, <-again)
		require.NoError(t, l.Release(t.Context()))
	})
}

func TestManyMayAcquireAndReleaseOneLeaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		store.SetDelay(time.Millisecond)
		l := store.Lease("x", "a", time.Second)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if i%5 == 4 {
					time.Sleep(time.Duration(i) * 100 * time.Microsecond)
					if err := l.Release(t.Context()); err != nil {
						t.Error(err)
					}
					return
				}
				ok, err := l.Acquire(t.Context())
				if ok != (err == nil) || err != nil && !errors.Is(err, lease.ErrReleased) {
					t.Error(ok, err)
				}
			})
		}
		all.Wait()
		require.NoError(t, l.Release(t.Context()))
		require.Empty(t, store.Inspect("x").Holder)
	})
}

func TestAReleaseWhoseCallerIsGoneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", 10*time.Second)
		acquire(t, l)
		store.SetDelay(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, l.Release(ctx), context.DeadlineExceeded)
		require.False(t, l.Valid())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, store.Inspect("x").Holder)
	})
}

func TestAnAcquireWithAnEndedContextAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ok, err := l.Acquire(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, ok)
		synctest.Wait()
		require.Zero(t, store.Inspect("x").Token)
	})
}

func TestAFailedAcquireIsGivenBackWhenTheStoreIsThereAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", 15*time.Second)
		store.LoseAnswers(3)
		ok, err := l.Acquire(t.Context())
		require.ErrorIs(t, err, lease.ErrUnavailable)
		require.False(t, ok)
		require.False(t, l.Valid())
		time.Sleep(2 * time.Second)
		require.Empty(t, store.Inspect("x").Holder)
		require.NotZero(t, store.Inspect("x").Token)
		time.Sleep(time.Hour)
		acquire(t, l)
		require.NoError(t, l.Release(t.Context()))
	})
}

func TestNoTokenIsAboveTheLast(t *testing.T) {
	ok, err := lease.NewMemory().Lease("x", "a", time.Second).AcquireAbove(t.Context(), math.MaxUint64)
	require.ErrorContains(t, err, "no token above")
	require.False(t, ok)
}

func TestALeaseSaysWhoseItIs(t *testing.T) {
	require.Equal(t, "counter of node-1", lease.NewMemory().Lease("counter", "node-1", time.Second).String())
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name, owner string
		settings    lease.Settings
		want        string // of the error; empty when they make sense
	}{
		{"x", "a", lease.Settings{}, ""},
		{"x", "a", lease.Settings{TTL: time.Millisecond}, ""},
		{"x", "a", lease.Settings{TTL: time.Second, Renewal: 899 * time.Millisecond}, ""},
		{strings.Repeat("n", 200), "a", lease.Settings{}, ""},
		{"", "a", lease.Settings{}, "the name is empty"},
		{strings.Repeat("n", 201), "a", lease.Settings{}, "at most 200"},
		{"x", "", lease.Settings{}, "the owner is empty"},
		{"x", "a", lease.Settings{TTL: -1}, "TTL is -1ns"},
		{"x", "a", lease.Settings{TTL: 999 * time.Microsecond}, "at least 1ms"},
		{"x", "a", lease.Settings{Renewal: -1}, "Renewal is -1ns"},
		{"x", "a", lease.Settings{TTL: time.Second, Renewal: time.Second}, "set a shorter Renewal"},
		{"x", "a", lease.Settings{TTL: time.Second, Renewal: 900 * time.Millisecond}, "= 900ms only"},
		{"x", "a", lease.Settings{Retry: -1}, "Retry is -1ns"},
		{"x", "a", lease.Settings{OperationTimeout: -1}, "OperationTimeout is -1ns"},
		{"x", "a", lease.Settings{TTL: time.Second, OperationTimeout: time.Second}, "set a shorter OperationTimeout"},
		{"x", "a", lease.Settings{Drift: nan}, "Drift is NaN"},
		{"x", "a", lease.Settings{Drift: inf}, "Drift is +Inf"},
		{"x", "a", lease.Settings{Drift: -inf}, "Drift is -Inf"},
		{"x", "a", lease.Settings{Drift: -0.1}, "Drift is -0.1"},
		{"x", "a", lease.Settings{Drift: 0.5}, "Drift is 0.5"},
	}
	for _, tt := range tests {
		l, err := lease.New(lease.NewMemory(), tt.name, tt.owner, tt.settings)
		if tt.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tt.want)
		require.Nil(t, l)
		require.True(t, strings.HasPrefix(err.Error(), "lease: "), err)
	}
	_, err := lease.New(nil, "x", "a", lease.Settings{})
	require.ErrorContains(t, err, "the store is nil")
}

func BenchmarkValid(b *testing.B) {
	l := lease.NewMemory().Lease("x", "a", time.Hour)
	ok, err := l.Acquire(b.Context())
	require.NoError(b, err)
	require.True(b, ok)
	for b.Loop() {
		if !l.Valid() {
			b.Fatal("it lasts for an hour")
		}
	}
	require.NoError(b, l.Release(b.Context()))
}

// What Valid costs is little more than this: one look at both clocks.
func BenchmarkNow(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		if now := time.Now(); now.Sub(start) < 0 {
			b.Fatal("time runs backwards")
		}
	}
}

// dayClock is a clock of which the time of day can be set.
type dayClock struct {
	start time.Time
	ahead atomic.Int64
}

func (c *dayClock) Now() (time.Duration, time.Time) {
	return time.Since(c.start), time.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *dayClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

func TestWhoLooksAfterASuspensionNeedNotWaitForATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &dayClock{start: time.Now()}
		l, err := lease.New(lease.NewMemory(), "x", "a", lease.Settings{TTL: 10 * time.Second, Clock: clock})
		require.NoError(t, err)
		lost := lossesOf(l)
		acquire(t, l)
		clock.ahead.Store(int64(9 * time.Second))
		require.False(t, l.Valid())
		synctest.Wait()
		require.EqualValues(t, 1, lost.count.Load())
		require.NoError(t, l.Release(t.Context()))
	})
}

// panicky is a store that does what it should, and panics.
type panicky struct {
	*lease.Memory
	calm atomic.Bool
}

func (p *panicky) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	g, err := p.Memory.Renew(ctx, g)
	if !p.calm.Load() {
		panic("index out of range")
	}
	return g, err
}

func TestAStoreThatPanicsIsOneThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &panicky{Memory: lease.NewMemory()}
		l, err := lease.New(store, "x", "a", lease.Settings{TTL: 10 * time.Second})
		require.NoError(t, err)
		lost := lossesOf(l)
		acquire(t, l)
		time.Sleep(5 * time.Second)
		require.True(t, l.Valid())
		time.Sleep(5 * time.Second)
		require.False(t, l.Valid())
		require.ErrorContains(t, lost.reason.Load().(error), "index out of range")
		store.calm.Store(true)
		acquire(t, l)
		time.Sleep(time.Minute)
		require.True(t, l.Valid())
		require.NoError(t, l.Release(t.Context()))
	})
}

// A request that the keeper has cancelled because it took too long is a timeout to its reader, not
// a cancellation.
func TestAStoreThatDoesNotAnswerInTimeIsADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", 10*time.Second)
		lost := lossesOf(l)
		requireDeadline := func(err error) {
			t.Helper()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, context.Canceled)
			require.NotContains(t, err.Error(), "canceled")
		}
		acquire(t, l)
		store.SetDelay(time.Hour)
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, lost.count.Load())
		requireDeadline(lost.reason.Load().(error))
		_, err := l.Acquire(t.Context())
		requireDeadline(err)
		requireDeadline(l.Release(t.Context()))
		time.Sleep(time.Minute)
	})
}

func TestTheLastObserverLearnsHowLongEachRenewalTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := lease.NewMemory()
		l := store.Lease("x", "a", time.Minute)
		observable := l.(interface {
			ObserveRenewals(f func(took time.Duration))
		})
		observable.ObserveRenewals(func(time.Duration) { t.Error("it was replaced") })
		took := make(chan time.Duration, 100)
		observable.ObserveRenewals(func(d time.Duration) { took <- d })
		acquire(t, l)
		require.Empty(t, took, "that was no renewal")
		store.SetDelay(2 * time.Second)
		time.Sleep(time.Minute)
		require.NotEmpty(t, took)
		require.Equal(t, 2*time.Second, <-took)
		require.NoError(t, l.Release(t.Context()))
	})
}

// A brokenClock is the clock of this machine, and panics at a call when it is told to.
type brokenClock struct {
	lease.Clock
	at atomic.Value // the call, or ""
}

func (c *brokenClock) breaks(call string) {
	if c.at.Load() == call {
		panic("no such device")
	}
}

func (c *brokenClock) Now() (time.Duration, time.Time) {
	c.breaks("Now")
	now := time.Now()
	return now.Sub(time.Time{}), now
}

func (c *brokenClock) AfterFunc(d time.Duration, f func()) func() {
	c.breaks("AfterFunc")
	timer := time.AfterFunc(d, f)
	return func() {
		timer.Stop()
		c.breaks("stop")
	}
}

// The process goes on, and another handle gets the lease when it has expired. A caller that gives
// the lease up in the same moment gets the error, and that is no loss.
func TestALeaseWhoseClockPanicsIsLost(t *testing.T) {
	for _, call := range []string{"Now", "AfterFunc", "stop"} {
		for name, notice := range map[string]func(l lease.Lease){
			"by itself":  func(lease.Lease) { time.Sleep(time.Minute) },
			"by Valid":   func(l lease.Lease) { _ = l.Valid(); time.Sleep(time.Minute) },
			"by Release": func(l lease.Lease) { _ = l.Release(context.Background()) },
			"by Acquire": func(l lease.Lease) { _, _ = l.AcquireAbove(context.Background(), l.Token()) },
		} {
			t.Run(call+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store, clock := lease.NewMemory(), new(brokenClock)
					l, err := lease.New(store, "x", "a", lease.Settings{TTL: 10 * time.Second, Clock: clock})
					require.NoError(t, err)
					lost := lossesOf(l)
					acquire(t, l)
					clock.at.Store(call)
					notice(l)
					synctest.Wait()
					require.False(t, l.Valid())
					if name == "by itself" || name == "by Valid" {
						require.EqualValues(t, 1, lost.count.Load())
						require.ErrorContains(t, lost.reason.Load().(error), "the clock of its settings: panic: no such device")
					}
					clock.at.Store("") // it is not trusted again
					_, err = l.Acquire(t.Context())
					require.ErrorContains(t, err, "no such device")
					require.ErrorContains(t, l.Release(t.Context()), "no such device")
					time.Sleep(10 * time.Second)
					acquire(t, store.Lease("x", "b", 10*time.Second))
				})
			})
		}
	}
}

func TestAnAcquireWhoseClockPanicsFails(t *testing.T) {
	for _, call := range []string{"Now", "AfterFunc"} {
		synctest.Test(t, func(t *testing.T) {
			store, clock := lease.NewMemory(), new(brokenClock)
			store.SetDelay(time.Second)
			clock.at.Store(call)
			l, err := lease.New(store, "x", "a", lease.Settings{TTL: 10 * time.Second, Clock: clock})
			require.NoError(t, err)
			held, err := l.Acquire(t.Context())
			require.False(t, held)
			require.ErrorContains(t, err, "no such device", call)
			require.False(t, l.Valid())
			l.(interface{ Abandon() }).Abandon()
		})
	}
}
