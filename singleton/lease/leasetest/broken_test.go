package leasetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

// broken are stores that break their contract, each in one way, and a law that finds it.
var broken = map[string]struct {
	law   string
	store func(*lease.Memory) lease.Store
}{
	"gives it to everybody": {"AHeldLeaseIsRefusedToOthers", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			m.Delete(c.Name)
			return m.Take(ctx, c)
		}}
	}},
	"takes owners for holders": {"TwoHoldersOfOneOwnerAreTwo", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			holder := c.Holder
			c.Holder, _, _ = strings.Cut(c.Holder, "/")
			g, err := m.Take(ctx, c)
			g.Holder = holder
			return g, err
		}}
	}},
	"refuses the holder": {"AnAcquireWhoseAnswerIsLostSucceeds", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			if m.Inspect(c.Name).Holder != "" {
				return lease.Grant{}, lease.ErrHeld
			}
			return m.Take(ctx, c)
		}}
	}},
	"ignores the floor": {"TheFloorIsRespected", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			c.Floor = 0
			return m.Take(ctx, c)
		}}
	}},
	"expires too early": {"ALeaseThatIsNotRenewedExpiresInTime", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			ttl := c.TTL
			c.TTL = ttl / 2
			g, err := m.Take(ctx, c)
			g.TTL = ttl
			return g, err
		}}
	}},
	"expires too late": {"ADeadHolderIsSucceededInTime", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			c.TTL *= 2
			return m.Take(ctx, c)
		}}
	}},
	"revives what has expired": {"AnExpiredLeaseThatNobodyTookIsNotRenewed", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, renew: func(ctx context.Context, g lease.Grant) (lease.Grant, error) {
			if m.Inspect(g.Name).Holder == "" {
				return g, nil
			}
			return m.Renew(ctx, g)
		}}
	}},
	"renews without effect": {"AHolderKeepsItsLease", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, renew: func(_ context.Context, g lease.Grant) (lease.Grant, error) { return g, nil }}
	}},
	"releases what is another's": {"AReleaseMayBeRepeated", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, release: func(_ context.Context, g lease.Grant) error {
			m.Delete(g.Name)
			return nil
		}}
	}},
	"releases by holder, whatever the token": {"AReleaseByAnOldGrantHarmsNobody", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, release: func(ctx context.Context, g lease.Grant) error {
			if h := m.Inspect(g.Name); h.Holder == g.Holder {
				g.Token = h.Token
			}
			return m.Release(ctx, g)
		}}
	}},
	"does not release": {"AReleasedLeaseIsFreeAtOnce", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, release: func(context.Context, lease.Grant) error { return nil }}
	}},
	"takes upper case for lower": {"NamesAreIndependentHoweverAwkward", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			c.Name = strings.ToLower(c.Name)
			return m.Take(ctx, c)
		}}
	}},
	"ignores contexts": {"ACancelledRequestReturnsWithAnError", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			return m.Take(context.WithoutCancel(ctx), c)
		}}
	}},
	"lets two have it now and then": {"EightContendersNeverHoldAtOnce", func(m *lease.Memory) lease.Store {
		return altered{Memory: m, renew: func(ctx context.Context, g lease.Grant) (lease.Grant, error) {
			if h := m.Inspect(g.Name); h.Token > g.Token && h.Token%16 == 0 {
				return g, nil
			}
			return m.Renew(ctx, g)
		}, take: func(ctx context.Context, c lease.Claim) (lease.Grant, error) {
			if m.Inspect(c.Name).Token%16 == 15 {
				m.Delete(c.Name)
			}
			return m.Take(ctx, c)
		}}
	}},
}

// altered is a memory of which some requests are done otherwise.
type altered struct {
	*lease.Memory
	take    func(context.Context, lease.Claim) (lease.Grant, error)
	renew   func(context.Context, lease.Grant) (lease.Grant, error)
	release func(context.Context, lease.Grant) error
}

func (a altered) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	if a.take != nil {
		return a.take(ctx, c)
	}
	return a.Memory.Take(ctx, c)
}

func (a altered) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	if a.renew != nil {
		return a.renew(ctx, g)
	}
	return a.Memory.Renew(ctx, g)
}

func (a altered) Release(ctx context.Context, g lease.Grant) error {
	if a.release != nil {
		return a.release(ctx, g)
	}
	return a.Memory.Release(ctx, g)
}

const brokenStore = "LEASETEST_BROKEN_STORE"

// TestBrokenStore is run by TestBrokenStoresAreFoundOut, in a process of its own.
func TestBrokenStore(t *testing.T) {
	b, ok := broken[os.Getenv(brokenStore)]
	if !ok {
		t.Skip("run by TestBrokenStoresAreFoundOut")
	}
	leasetest.RunInBubble(t, func(*testing.T) leasetest.Backend {
		store := b.store(lease.NewMemory())
		return leasetest.Backend{Open: func(*testing.T) lease.Store { return store }, TTL: time.Second}
	})
}

func TestBrokenStoresAreFoundOut(t *testing.T) {
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenStore$/^"+b.law+"$", "-test.timeout=1m")
			cmd.Env = append(os.Environ(), brokenStore+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s did not find it:\n%s", b.law, out)
			require.Contains(t, string(out), "--- FAIL: TestBrokenStore/"+b.law)
		})
	}
}
