package downing

import (
	"context"
	"time"
)

// A Lease is held by one node of the cluster at a time, or by none. It stands outside of
// the cluster: in a database, in etcd, in Kubernetes. Each node has its own value, which
// knows in whose name it asks. Calls for one node do not overlap.
//
// Every lease.Lease of package singleton/lease is one. Its TTL must be longer than
// LeaseMajority.ReleaseAfter, a minute with the defaults of that: it expires TTL after its
// process has died. While its process lives it is renewed, also when the node has ended. One
// that has a method TTL() time.Duration, as those have, is checked. Do not give it to a
// singleton as well: who holds a lease already is granted it again.
type Lease interface {
	// Acquire asks for the lease, and reports whether this node holds it now. Who holds it
	// already is granted it again. False with a nil error is certain: it is another's. An
	// error means that nobody knows, which counts as no. It must return soon after ctx has
	// ended.
	//
	// The lease must then stay with this node until Release, or for some time longer than
	// it is held for (LeaseMajority.ReleaseAfter), even if the node ends: a node that ends
	// before leaves it to expire.
	Acquire(ctx context.Context) (held bool, err error)

	// Release gives the lease back, if this node holds it.
	Release(ctx context.Context) error
}

// An Ask is a question for a lease. One without a Lease is none.
type Ask struct {
	Lease   Lease
	Timeout time.Duration // no answer within it is a no
	Hold    time.Duration // for how long it is held
}

// An Answer is what became of an [Ask].
type Answer uint8

// The answers to an Ask, and what there is before.
const (
	NotAsked Answer = iota // not in this situation
	Asked                  // and not answered yet
	Granted
	Denied // or not answered in time, or not known
)
