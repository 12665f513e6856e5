package leasetest_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

// A backend with a server of its own is tested in real time. What it cannot do is left out.
func ExampleRun() {
	_ = func(t *testing.T) { // TestStore
		server := lease.NewMemory()
		leasetest.Run(t, func(t *testing.T) leasetest.Backend {
			return leasetest.Backend{
				Open:   func(t *testing.T) lease.Store { return server }, // connect
				TTL:    time.Second,
				Delete: func(t *testing.T, name string) { server.Delete(name) },
			}
		})
	}
}
