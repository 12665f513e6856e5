package lease

import (
	"context"
	"time"
)

// A Store is a backend of leases. Its methods may be called from any goroutine; for one
// claim they do not overlap. Any error but [ErrHeld] and [ErrLost] means that nobody
// knows whether the request was carried out; it is repeated. An implementation that
// retries by itself does not do so longer than ctx.
//
// Who judges the time is the store's own affair: the server's clock where there is one, or
// each contender by how long it has seen the record unchanged; never by comparing the
// clocks of two machines.
//
// Package leasetest tests an implementation.
type Store interface {
	// Take makes the holder of c hold the lease, if nobody does or the former one's has
	// expired; else it answers [ErrHeld]. The token is greater than all that this name has
	// ever had, and greater than c.Floor. When that very holder holds it already, as an
	// answer was lost, that is a success too, and the token may stay as it is, if it is
	// greater than c.Floor.
	Take(ctx context.Context, c Claim) (Grant, error)

	// Renew lets the lease of g last for its TTL from now. It answers [ErrLost] when the
	// lease is another's, is gone, or has expired, even if nobody has taken it.
	Renew(ctx context.Context, g Grant) (Grant, error)

	// Release gives the lease of g back, so that others can take it at once. When it is not
	// g's any more, nothing happens and the answer is nil: also when the same holder has it
	// by now with another token, as a request may be late.
	Release(ctx context.Context, g Grant) error
}

// A Claim is what a holder asks for.
type Claim struct {
	Name   string        // of the lease; any text of up to 200 bytes
	Holder string        // unique for each end of a lease, in all processes
	TTL    time.Duration // without a renewal others may take it after that
	Floor  uint64        // the token must be greater
}

// A Grant is a lease that is held.
type Grant struct {
	Claim
	Token   uint64
	Version string // what the store needs to recognise it: a revision, say
}
