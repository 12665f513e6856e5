package kubernetes

import (
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

// Each handle acts as a process of its own, which has seen no record. So there is no Delete hook: a
// process that has not seen a count cannot continue from it after an administrator deletes it.
func TestStoresOfManyProcesses(t *testing.T) {
	leasetest.RunInBubble(t, func(*testing.T) leasetest.Backend {
		server := newAPIServer()
		return backend(server, func(t *testing.T) lease.Store { return newStore(t, server) })
	})
}

func TestOneStoreOfAProcess(t *testing.T) {
	leasetest.RunInBubble(t, func(t *testing.T) leasetest.Backend {
		server := newAPIServer()
		s := newStore(t, server)
		b := backend(server, func(*testing.T) lease.Store { return s })
		b.Delete = func(_ *testing.T, name string) { server.remove(ObjectName(name)) }
		return b
	})
}

func backend(server *apiServer, open func(*testing.T) lease.Store) leasetest.Backend {
	down := always(fault{status: http.StatusServiceUnavailable}, http.MethodGet, http.MethodPost, http.MethodPut)
	return leasetest.Backend{
		Open: open,
		TTL:  2 * time.Second,
		Outage: func(*testing.T) (end func()) {
			server.fail(down)
			return func() { server.fail(nil) }
		},
		Restart: func(*testing.T) {
			server.fail(down)
			time.Sleep(100 * time.Millisecond)
			server.fail(nil)
		},
		Usurp: func(_ *testing.T, name string) { server.put(usurped(server.get(ObjectName(name)))) },
	}
}

// usurped is o in the hands of somebody who does not ask.
func usurped(o *coordinationv1.Lease) *coordinationv1.Lease {
	now := metav1.NowMicro()
	o.Spec.HolderIdentity = new("usurper")
	o.Spec.LeaseTransitions = new(int32(transitions(o)) + 1)
	o.Spec.AcquireTime, o.Spec.RenewTime = &now, &now
	return o
}
