package leaseholder_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

const ttl = 30 * time.Second

// A diary notes what happens, in order. It is the user of a holder.
type diary struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) took() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *diary) answered(a leaseholder.Answer) {
	switch {
	case a.Held:
		d.note("held")
	case a.Err != nil:
		d.note("failed: " + a.Err.Error())
	default:
		d.note("another's")
	}
}

func (d *diary) released(err error) {
	if err != nil {
		d.note("not released: " + err.Error())
		return
	}
	d.note("released")
}

func (d *diary) lost(reason error) { d.note("lost: " + reason.Error()) }

// A mock is a lease that notes the calls, and whose answers a test decides.
type mock struct {
	*diary
	acquire func(ctx context.Context) (bool, error) // nil: wins
	release func()                                  // nil: does nothing

	state sync.Mutex // guards the fields below
	valid bool
	heard func(reason error)
}

func (m *mock) set(valid bool) {
	m.state.Lock()
	defer m.state.Unlock()
	m.valid = valid
}

// lose is what a lease does that is lost.
func (m *mock) lose(reason string) {
	m.set(false)
	m.heard(errors.New(reason))
}

func (m *mock) Acquire(ctx context.Context) (bool, error) { return m.AcquireAbove(ctx, 0) }

func (m *mock) AcquireAbove(ctx context.Context, _ uint64) (held bool, err error) {
	m.note("Acquire")
	held = true
	if m.acquire != nil {
		held, err = m.acquire(ctx)
	} else {
		m.set(true)
	}
	return held, err
}

func (m *mock) Release(context.Context) error {
	m.note("Release")
	m.set(false)
	if m.release != nil {
		m.release()
	}
	return nil
}

func (m *mock) Valid() bool {
	m.state.Lock()
	defer m.state.Unlock()
	return m.valid
}

func (*mock) Token() uint64  { return 7 }
func (*mock) String() string { return "mock" }

func (m *mock) OnLost(f func(error)) func() {
	m.heard = f
	return func() { m.note("not heard any more") }
}

// holding runs f with a holder of a mock.
func holding(t *testing.T, f func(t *testing.T, h *leaseholder.Holder, m *mock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &mock{diary: &diary{}}
		f(t, holderOf(t, m, m.diary), m)
	})
}

func holderOf(t *testing.T, l lease.Lease, d *diary) *leaseholder.Holder {
	return leaseholder.New(leaseholder.Config{
		System: testkit.NewSystem(t), User: "a user", Reserve: true, Lost: d.lost,
		Create: func() (lease.Lease, error) { return l, nil },
	})
}

func TestALossBeforeTheAnswerMeansThatTheLeaseIsNotHeld(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		m.acquire = func(context.Context) (bool, error) {
			m.set(true)
			m.lose("taken away")
			time.Sleep(time.Second)
			return true, nil
		}
		h.Acquire(t.Context(), 0, m.answered)
		time.Sleep(time.Second)
		require.Equal(t, []string{"Acquire", "failed: " + leaseholder.ErrLost.Error()}, m.took())
		m.acquire = nil
		h.Acquire(t.Context(), 0, m.answered)
		require.Equal(t, []string{"Acquire", "held"}, m.took()[2:], "an earlier loss does not count")
	})
}

// The user hears of a loss only after it has heard that it has the lease: before, it could not act
// upon it.
func TestALossDuringTheAnswerIsReportedAfterIt(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		h.Acquire(t.Context(), 0, func(a leaseholder.Answer) {
			m.lose("taken away")
			time.Sleep(time.Second)
			m.answered(a)
		})
		time.Sleep(time.Second)
		require.Equal(t, []string{"Acquire", "held", "lost: taken away"}, m.took())
		require.False(t, h.Valid())
	})
}

func TestALossIsReportedOnce(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		h.Acquire(t.Context(), 0, m.answered)
		m.took()
		m.lose("taken away")
		m.took()
		m.lose("taken away again")
		require.Equal(t, []string{"Acquire", "held", "lost: taken away"}, m.took())
	})
}

func TestAReportOfALossIsIgnoredWhileTheLeaseIsValid(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		h.Acquire(t.Context(), 0, m.answered)
		m.took()
		m.heard(errors.New("of an earlier time"))
		require.Equal(t, []string{"Acquire", "held"}, m.took())
	})
}

func TestALossDuringAReleaseOrAfterItIsIgnored(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		m.release = func() {
			m.lose("during")
			time.Sleep(time.Second)
		}
		h.Acquire(t.Context(), 0, m.answered)
		m.took()
		h.Release(m.released)
		time.Sleep(time.Second)
		m.took()
		m.lose("after")
		require.Equal(t, []string{"Acquire", "held", "Release", "released"}, m.took())
	})
}

// A release that overtook the acquisition before it would leave a lease that nobody knows of, and
// that is renewed for ever.
func TestALeaseIsReleasedAfterTheAcquisitionThatMayWinIt(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		m.acquire = func(context.Context) (bool, error) {
			time.Sleep(2 * time.Second)
			m.set(true)
			m.note("won")
			return true, nil
		}
		h.Acquire(t.Context(), 0, m.answered)
		m.took()
		h.Release(m.released)
		require.Equal(t, []string{"Acquire", "failed: context canceled"}, m.took(), "it is given up at once")
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"won", "Release", "released"}, m.took()[2:])
		require.False(t, h.Valid())
	})
}

func TestALeaseThatIsWonAfterItsContextEndedIsReleased(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		m.acquire = func(context.Context) (bool, error) {
			time.Sleep(time.Hour)
			m.set(true)
			return true, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.Acquire(ctx, 0, m.answered)
		time.Sleep(time.Second)
		require.Equal(t, []string{"Acquire", "failed: context deadline exceeded"}, m.took())
		time.Sleep(time.Hour)
		require.Equal(t, []string{"Release"}, m.took()[2:])
	})
}

func TestALeaseThatDoesNotAnswerIsGivenUpAfterAMinute(t *testing.T) {
	holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
		m.acquire = func(context.Context) (bool, error) { time.Sleep(time.Hour); return false, nil }
		h.Acquire(context.Background(), 0, m.answered)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Acquire", "failed: the lease does not answer; if it does so later, it is released"}, m.took())
		h.Acquire(t.Context(), 0, m.answered)
		time.Sleep(time.Minute)
		require.Len(t, m.took(), 3, "an acquisition that has to wait for it is given up as well")
		time.Sleep(time.Hour)
		require.Len(t, m.took(), 3, "and is not begun any more")
	})
}

// A user whose acquisition has failed does not release anything.
func TestALeaseThatIsHeldAlthoughTheAcquisitionFailsIsReleased(t *testing.T) {
	for name, fail := range map[string]func(m *mock) (bool, error){
		"an error": func(m *mock) (bool, error) { m.set(true); return true, errors.New("no connection") },
		"a panic":  func(m *mock) (bool, error) { m.set(true); panic("no connection") },
	} {
		t.Run(name, func(t *testing.T) {
			holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
				m.acquire = func(context.Context) (bool, error) { return fail(m) }
				h.Acquire(t.Context(), 0, m.answered)
				all := m.took()
				require.Len(t, all, 3)
				require.Contains(t, all[1], "no connection")
				require.Equal(t, "Release", all[2])
			})
		})
	}
	t.Run("a context that has ended", func(t *testing.T) {
		holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
			h.Acquire(t.Context(), 0, m.answered)
			m.took()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			h.Acquire(ctx, 7, m.answered) // above the token that is held
			require.Equal(t, []string{"Acquire", "held", "failed: context canceled", "Release"}, m.took())
		})
	})
}

func TestAHolderOfALeaseThatBlocksForEverCanBeClosed(t *testing.T) {
	for name, block := range map[string]func(m *mock){
		"Acquire": func(m *mock) {
			m.acquire = func(context.Context) (bool, error) { time.Sleep(time.Hour); return true, nil }
		},
		"Release": func(m *mock) { m.release = func() { time.Sleep(time.Hour) } },
	} {
		t.Run(name, func(t *testing.T) {
			holding(t, func(t *testing.T, h *leaseholder.Holder, m *mock) {
				block(m)
				h.Acquire(t.Context(), 0, m.answered)
				m.took()
				begun := time.Now()
				require.ErrorContains(t, h.Close(), "does not answer")
				require.Equal(t, 10*time.Second, time.Since(begun))
				require.NotContains(t, m.took(), "not heard any more")
				time.Sleep(time.Hour)
				m.took()
				time.Sleep(time.Hour)
				all := slices.Compact(m.took())
				require.Equal(t, []string{"Release", "not heard any more"}, all[len(all)-2:], "in the background")
			})
		})
	}
}

func TestCloseWaitsForNothingWithALeaseThatKeepsItsContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := lease.NewMemory(), &diary{}
		store.SetDelay(2 * time.Second)
		h := holderOf(t, store.Lease("x", "a", ttl), d)
		h.Acquire(t.Context(), 0, d.answered)
		require.NoError(t, h.Close())
		took := d.took()
		require.Len(t, took, 1)
		require.Regexp(t, "^failed: .*context canceled$", took[0]) // of the holder or of the lease, whichever is first
		time.Sleep(time.Minute)
		require.Empty(t, store.Inspect("x").Holder)
	})
}

// A renewal that the store confirms after the holder's time is over does not count: the lease may
// be another's when the answer arrives.
func TestALateRenewalIsALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d := lease.NewMemory(), &diary{}
		h := holderOf(t, store.Lease("x", "a", ttl), d)
		h.Acquire(t.Context(), 0, d.answered)
		require.Equal(t, []string{"held"}, d.took())
		begun := time.Now()
		store.SetDelay(time.Hour)
		time.Sleep(ttl * 9 / 10)
		all := d.took()
		require.Len(t, all, 2)
		require.Contains(t, all[1], "lost: "+lease.ErrExpired.Error())
		require.Less(t, time.Since(begun), ttl)
		require.False(t, h.Valid())
		store.SetDelay(0)
		time.Sleep(2 * time.Hour)
		require.False(t, h.Valid())
		require.Len(t, d.took(), 2)
		require.NoError(t, h.Close())
	})
}

func TestALeaseIsNeitherRenewedNorReleasedOnceTheSystemHasHalted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, d, s := lease.NewMemory(), &diary{}, testkit.NewSystem(t)
		broken := true
		h := leaseholder.New(leaseholder.Config{System: s, User: "a user", Lost: d.lost, Create: func() (lease.Lease, error) {
			if broken {
				return nil, errors.New("no store yet")
			}
			return store.Lease("x", "a", ttl), nil
		}})
		require.NoError(t, h.Open())
		h.Acquire(t.Context(), 0, d.answered)
		require.Equal(t, []string{"failed: no store yet"}, d.took())
		require.Contains(t, h.String(), "not created yet")
		broken = false
		h.Acquire(t.Context(), 0, d.answered)
		require.Equal(t, []string{"failed: no store yet", "held"}, d.took())
		require.Equal(t, "x of a", h.String())
		extension.Halt(s)
		require.NoError(t, h.Close())
		require.False(t, h.Valid())
		require.NotEmpty(t, store.Inspect("x").Holder)
		time.Sleep(ttl)
		held, err := store.Lease("x", "b", ttl).Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		store.Usurp("x", "nobody", time.Second)
		time.Sleep(time.Hour)
	})
}

// Acquire succeeds at once for a handle that holds the lease, so two users would both believe to
// have it.
func TestTwoUsersCannotHaveOneHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := lease.NewMemory().Lease("x", "a", ttl), &diary{}
		first, second := holderOf(t, l, d), holderOf(t, l, d)
		require.NoError(t, first.Open())
		require.EqualError(t, second.Open(), "lease x of a is used by a user")
		second.Acquire(t.Context(), 0, d.answered)
		require.Equal(t, []string{"failed: lease x of a is used by a user"}, d.took())
		require.NoError(t, first.Close())
		require.NoError(t, second.Open())
		require.NoError(t, second.Close())
	})
}

// panicking panics in every method.
type panicking struct{}

func (panicking) Acquire(context.Context) (bool, error)              { panic("Acquire") }
func (panicking) AcquireAbove(context.Context, uint64) (bool, error) { panic("AcquireAbove") }
func (panicking) Release(context.Context) error                      { panic("Release") }
func (panicking) Valid() bool                                        { panic("Valid") }
func (panicking) Token() uint64                                      { panic("Token") }
func (panicking) OnLost(func(error)) (cancel func())                 { panic("OnLost") }
func (panicking) String() string                                     { panic("String") }
func (panicking) Reserve(string) (func(), error)                     { panic("Reserve") }
func (panicking) ObserveRenewals(func(time.Duration))                { panic("ObserveRenewals") }
func (panicking) Abandon()                                           { panic("Abandon") }

func TestALeaseThatPanicsIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panicked *guard.PanicError
		require.ErrorAs(t, holderOf(t, panicking{}, &diary{}).Open(), &panicked)
		h := leaseholder.New(leaseholder.Config{
			System: testkit.NewSystem(t), Renewed: func(time.Duration) {}, Create: func() (lease.Lease, error) { return panicking{}, nil },
		})
		answers := make(chan leaseholder.Answer, 1)
		h.Acquire(t.Context(), 0, func(a leaseholder.Answer) { answers <- a })
		a := <-answers
		require.False(t, a.Held)
		require.ErrorAs(t, a.Err, &panicked)
		require.False(t, h.Valid())
		require.Equal(t, "a leaseholder_test.panicking", h.String())
		require.Equal(t, "it has to expire", h.Outlook())
		require.ErrorAs(t, h.Close(), &panicked)
		h.Abandon()
	})
}

func TestASourceThatPanicsOrReturnsNilFails(t *testing.T) {
	for name, source := range map[string]leaseholder.Source{
		"panic: no store": func(string, string) (lease.Lease, error) { panic("no store") },
		"returned nil":    func(string, string) (lease.Lease, error) { return nil, nil }, //nolint:nilnil // the mistake that is tested
	} {
		_, err := source.New("x", "a")
		require.ErrorContains(t, err, "create the lease x: ")
		require.ErrorContains(t, err, name)
	}
}
