// Package lease lets only one owner at a time hold a name, by means of a store outside the cluster:
// a row in a database, a key in etcd, or an object in Kubernetes.
//
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{TTL: 15 * time.Second})
//	…
//	singleton.WithLease(l)
//
// A [Store] is one backend: three operations, each a compare-and-set. [New] makes a
// [Lease] of it, which renews in time, bears errors that pass, and knows by the holder's
// own clock when it is not sure any more.
//
// # What holds
//
// Of all ends of one name, in all processes, [Lease.Valid] is true for one at most at any
// moment, whatever becomes of the network, the store's answers and the processes: as long
// as no two clocks differ in rate by more than the Drift of [Settings], and the store
// keeps its contract. How far the clocks are apart does not matter.
//
// The holder's time begins before a request is sent and ends earlier than the store's, so
// that it stops first:
//
//	request sent                    holder ends        store's time is over
//	|-------- TTL*(1-2*Drift) ------|                  |
//	      |------------------ TTL ---------------------|
//	      request carried out
//
// Tokens of one name grow with every acquisition and never start again.
//
// # What does not hold
//
// What a holder does after it has looked at Valid may happen when another holds the lease
// already: between the two, the process may be stopped for a minute. Where that would do
// harm, the one who is written to must refuse tokens lower than the highest it has seen.
//
// A machine that is suspended notices by the time of day. It cannot when that is set back
// at the same time by as much.
//
// A lease does not keep anything running. While the store is away for longer than the
// holder's time, nobody holds it; and after a crash nobody does until TTL is over.
//
// # How long nobody holds it
//
//	a holder releases                 one request, and until the next one asks
//	a holder dies                     what is left of TTL, and until the next one asks
//	the store is away, shortly        nothing is noticed, if a renewal succeeds before the holder's time is over
//	the store is away, for longer     from TTL*(1-2*Drift) after the last renewal until it is back and somebody asks
//	somebody takes it or deletes it   the holder knows with its next renewal
//
// # Testing
//
// [NewMemory] is a store with faults on demand, whose leases go well with package
// testing/synctest. Package leasetest checks a Store of your own.
package lease

import (
	"context"
	"errors"
)

// A Lease is one owner's end of a name that one owner at a time holds. Its methods may be
// called from any goroutine.
//
// No lease is a fence: a process that is stopped between two instructions goes on after
// its lease has expired, and cannot know. What must not be harmed by it has to refuse
// tokens lower than the highest it has seen; see [Lease.Token].
type Lease interface {
	// Acquire asks for the lease, and reports whether this owner holds it now. False with
	// a nil error is certain: it is another's. An error means that nobody knows; then it is
	// not held as far as this owner is concerned, and whatever the store has noted is given
	// back as soon as it can be reached, or expires. Who holds it already is told so at once.
	// It returns when ctx ends, or after the operation timeout for each of its attempts.
	Acquire(ctx context.Context) (held bool, err error)

	// AcquireAbove is Acquire with a token that is greater than floor, too.
	AcquireAbove(ctx context.Context, floor uint64) (held bool, err error)

	// Release gives the lease back. From the moment it is called the lease is not valid,
	// and nothing renews it. Without a lease to give back it does nothing; what an Acquire
	// under way still wins is given back, too. An error means that the lease has to expire.
	Release(ctx context.Context) error

	// Valid reports whether this owner certainly holds the lease at this moment, by its own
	// clock, counted from before the last successful request was sent. It asks nobody.
	Valid() bool

	// Token returns the number of the last acquisition that succeeded, 0 before. Of one name
	// every acquisition has a greater one than all before, also after a release, an expiry
	// and a new process.
	Token() uint64

	// OnLost registers f to be called once for each time that the lease is lost: it has
	// passed to another, was deleted, or could not be renewed in time. Valid is false by
	// then. f is called in a goroutine of its own and gets the reason. It is not called for
	// a Release. The returned function takes f out again.
	OnLost(f func(reason error)) (cancel func())

	// String returns the name and the owner, for people.
	String() string
}

// Why there is no lease. Compare with [errors.Is].
var (
	// ErrHeld is what a [Store] answers when another holds the lease: a definite no.
	ErrHeld = errors.New("lease: held by another")
	// ErrLost is what a [Store] answers to the renewal of a lease that has passed to
	// another, has expired, or is gone.
	ErrLost = errors.New("lease: lost")
	// ErrExpired is the reason of a loss when no renewal succeeded in time.
	ErrExpired = errors.New("lease: could not be renewed in time")
	// ErrReleased is what an Acquire returns when Release is called meanwhile.
	ErrReleased = errors.New("lease: released while it was being acquired")
)
