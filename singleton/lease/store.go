package lease

import (
	"context"
	"time"
)

// A Store is a backend of leases. Its methods may be called from any goroutine; calls for one claim
// do not overlap. An error other than [ErrHeld] and [ErrLost] leaves open whether the request was
// carried out, and the request is repeated. An implementation that retries by itself stops when ctx
// ends.
//
// The store decides how expiry is measured: by the server's clock if there is one, or by how long
// each contender has seen the record unchanged. It must never compare the clocks of two machines.
//
// Package leasetest tests an implementation.
type Store interface {
	// Take makes the holder of c hold the lease if nobody holds it or the former holder's lease has
	// expired. Otherwise it returns [ErrHeld]. The token is greater than every earlier token of
	// this name, and greater than c.Floor. If the same holder already holds the lease, because an
	// answer was lost, Take succeeds, and may keep the token if that is greater than c.Floor.
	Take(ctx context.Context, c Claim) (Grant, error)

	// Renew extends the lease of g to its TTL from now. It returns [ErrLost] if the lease belongs
	// to another holder, is gone, or has expired, even if nobody has taken it. The error names the
	// other holder.
	Renew(ctx context.Context, g Grant) (Grant, error)

	// Release releases the lease of g, so that others can take it at once. If the lease is no
	// longer g's, it does nothing and returns nil. That includes a lease that the same holder has
	// taken again with another token, because a request may be late.
	Release(ctx context.Context, g Grant) error
}

// A Claim is a holder's request for a lease.
type Claim struct {
	Name   string        // of the lease; any text of up to 200 bytes
	Holder string        // unique for each handle of a lease, in all processes
	TTL    time.Duration // after this time without a renewal others may take it
	Floor  uint64        // the token must be greater
}

// A Grant is a lease that is held.
type Grant struct {
	Claim
	Token   uint64
	Version string // identifies the acquisition for the store, for example a revision
}
