package leasetest_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestMemoryInABubble(t *testing.T) { leasetest.RunInBubble(t, memory) }

func memory(*testing.T) leasetest.Backend {
	m := lease.NewMemory()
	return leasetest.Backend{
		Open: func(*testing.T) lease.Store { return m },
		TTL:  time.Second,
		Outage: func(*testing.T) (end func()) {
			m.SetOutage(lease.ErrUnavailable)
			return func() { m.SetOutage(nil) }
		},
		Restart: func(*testing.T) { m.LoseAnswers(1) },
		Delete:  func(_ *testing.T, name string) { m.Delete(name) },
		Usurp:   func(_ *testing.T, name string) { m.Usurp(name, "usurper", time.Second) },
	}
}
