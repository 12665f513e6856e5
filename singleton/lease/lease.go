// Package lease lets only one owner at a time hold a name, by means of a store outside the cluster:
// a row in a database, a key in etcd, or an object in Kubernetes.
//
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{TTL: 15 * time.Second})
//	…
//	singleton.WithLease(l)
//
// A [Store] is a backend: three operations, each a compare-and-set. [New] returns a [Lease] in a
// store. A Lease renews itself in time, survives transient errors, and knows by the holder's own
// clock when it is no longer certain to be held.
//
// # What is guaranteed
//
// At any moment [Lease.Valid] is true for at most one of all handles of a name, in all processes,
// whatever happens to the network, the store's answers and the processes. This requires that no
// two clocks differ in rate by more than the Drift of [Settings], and that the store keeps its
// contract. The clocks need not show the same time.
//
// The holder counts from before it sends a request and stops before the store's time is over, so
// it always stops first:
//
//	request sent                    holder ends        store's time is over
//	|-------- TTL*(1-2*Drift) ------|                  |
//	      |------------------ TTL ---------------------|
//	      request carried out
//
// The tokens of a name increase with every acquisition and never start again.
//
// # What is not guaranteed
//
// A holder that has checked Valid may act when another already holds the lease: between the two,
// its process may be paused for a minute. If that would do harm, the receiver of its writes must
// refuse tokens lower than the highest it has seen.
//
// A machine that was suspended notices it by the time of day. It cannot if the time of day is set
// back by as much at the same time.
//
// A lease does not keep anything running. If the store is unavailable for longer than the holder's
// time, nobody holds the lease. After a crash nobody holds it until TTL is over.
//
// # How long nobody holds it
//
//	a holder releases it              one request, and until the next contender asks
//	a holder dies                     the rest of TTL, and until the next contender asks
//	a short outage of the store       no time, if a renewal succeeds before the holder's time is over
//	a longer outage                   from TTL*(1-2*Drift) after the last renewal until the store is back and a contender asks
//	it is taken away or deleted       the holder notices with its next renewal
//
// # Testing
//
// [NewMemory] is a store with faults on demand, whose leases work with package testing/synctest.
// Package leasetest checks a Store of your own.
package lease

import (
	"context"
	"errors"
)

// A Lease is one owner's handle of a name that one owner at a time holds. Its methods may be called
// from any goroutine.
//
// A lease is not a fence: a process that is paused between two instructions continues after its
// lease has expired, and cannot know. Whatever it could harm must refuse tokens lower than the
// highest it has seen; see [Lease.Token].
type Lease interface {
	// Acquire requests the lease, and reports whether this owner now holds it. If this owner holds
	// it already, Acquire returns true at once. False with a nil error is certain: another holds
	// it.
	//
	// After an error the outcome is unknown. This owner does not hold the lease then, and whatever
	// the store has noted is released as soon as the store can be reached, or expires. Acquire
	// returns when ctx ends, or after the operation timeout of each of its attempts.
	Acquire(ctx context.Context) (held bool, err error)

	// AcquireAbove is Acquire with a token that is greater than floor.
	AcquireAbove(ctx context.Context, floor uint64) (held bool, err error)

	// Release releases the lease. As soon as it is called the lease is not valid, and is no longer
	// renewed. What an Acquire in progress still wins is released as well. Without a lease Release
	// does nothing. An error means that the lease has to expire.
	Release(ctx context.Context) error

	// Valid reports whether this owner certainly holds the lease now, by its own clock, counted
	// from before the last successful request was sent. It sends no request.
	Valid() bool

	// Token returns the token of the last successful acquisition, 0 before the first. Every
	// acquisition of a name has a greater token than all before, also after a release, after an
	// expiry and in a new process.
	Token() uint64

	// OnLost registers f to be called once for each time that the lease is lost: another has it, it
	// was deleted, or it could not be renewed in time. By then Valid is false. f gets the reason
	// and runs in its own goroutine. It is not called for a Release. cancel removes f.
	OnLost(f func(reason error)) (cancel func())

	// String returns the name and the owner, for people.
	String() string
}

// The reasons why a lease is not held. Compare them with [errors.Is].
var (
	// ErrHeld: another owner certainly holds the lease. After a crash this is normal until it
	// expires. If it lasts, another cluster uses the same name in the same store.
	ErrHeld = errors.New("lease: held by another")
	// ErrLost: the renewal has found the lease taken by another owner, expired or gone. Look for a
	// long pause of the process, or a deleted record.
	ErrLost = errors.New("lease: lost")
	// ErrExpired: no renewal has succeeded in time: the store was away, or the process was paused.
	// The text has the last error. A longer TTL bridges longer outages and makes failover longer.
	ErrExpired = errors.New("lease: could not be renewed in time")
	// ErrReleased: Release was called before Acquire had an answer, as when a node ends. There is
	// nothing to do.
	ErrReleased = errors.New("lease: released while it was being acquired")
)
