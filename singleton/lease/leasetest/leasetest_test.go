package leasetest_test

import (
	"flag"
	"testing"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

var realTime = flag.Bool("realtime", false, "run the laws in real time too, for half a minute")

func TestMemoryInABubble(t *testing.T) { leasetest.RunInBubble(t, memory) }

func TestMemoryInRealTime(t *testing.T) {
	if !*realTime {
		t.Skip("virtual time shows the same, but for Run itself: run it with -realtime")
	}
	leasetest.Run(t, memory)
}

func TestOfEightContendersOneGetsTheLeaseInMemory(t *testing.T) {
	m := lease.NewMemory()
	leasetest.Contenders(t, []*lease.Memory{m, m, m, m, m, m, m, m}, 50)
}

func BenchmarkMemory(b *testing.B) { leasetest.BenchmarkStore(b, lease.NewMemory()) }

func memory(*testing.T) leasetest.Backend {
	m := lease.NewMemory()
	return leasetest.Backend{
		Open: func(*testing.T) lease.Store { return m },
		TTL:  time.Second,
		Outage: func(*testing.T) (end func()) {
			m.SetOutage(lease.ErrUnavailable)
			return func() { m.SetOutage(nil) }
		},
		Restart: func(*testing.T) {
			m.SetOutage(lease.ErrUnavailable)
			time.Sleep(100 * time.Millisecond)
			m.SetOutage(nil)
		},
		Delete: func(_ *testing.T, name string) { m.Delete(name) },
		Usurp:  func(_ *testing.T, name string) { m.Usurp(name, "usurper", time.Second) },
	}
}
