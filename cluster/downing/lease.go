package downing

import (
	"context"
	"time"
)

// A Lease is held by at most one node of the cluster at a time. It is kept outside the cluster:
// in a database, in etcd, in Kubernetes. Each node has a Lease value of its own, which asks in
// the name of that node. Calls for one node do not overlap.
//
// Every lease.Lease of package singleton/lease implements this interface. Its TTL must be
// longer than LeaseMajority.ReleaseAfter, so longer than 40 s by default; one minute is enough.
// The lease expires TTL after its process has died. While its process lives it is renewed, even
// after the node has ended. If a lease has a method TTL() time.Duration,
// [LeaseMajority.Validate] checks the TTL. Do not use the same lease for a singleton: a node
// that holds it already is granted it again.
type Lease interface {
	// Acquire asks for the lease, and reports whether this node holds it now. A node that holds
	// it already is granted it again. False with a nil error means that another node certainly
	// holds it. An error means that the answer is unknown, which counts as no. Acquire must
	// return soon after ctx has ended.
	//
	// The lease must then stay with this node until Release, or longer than
	// LeaseMajority.ReleaseAfter, even if the node ends. A node that ends before Release leaves
	// the lease to expire.
	Acquire(ctx context.Context) (held bool, err error)

	// Release gives the lease back if this node holds it.
	Release(ctx context.Context) error
}

// An Ask is a request for a lease. An Ask without a Lease requests nothing.
type Ask struct {
	Lease   Lease
	Timeout time.Duration // how long to wait; no answer in that time counts as no
	Hold    time.Duration // how long the lease is held once it is granted
}

// An Answer is the result of an [Ask].
type Answer uint8

// The results of an Ask, and the state before it.
const (
	NotAsked Answer = iota // the strategy has not asked in this situation
	Asked                  // the strategy has asked, and there is no answer yet
	Granted
	Denied // another node holds it, the answer is unknown, or none came in time
)
