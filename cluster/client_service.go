package cluster

import (
	"context"

	"github.com/understudy-go/understudy/actor/receptionist"
)

// Lookup returns the instances of a service that a member knows of now; see package receptionist.
// It asks the client's contact, and the other members if that does not answer. The client can send
// to the refs of the listing, and ask them. The refs become stale when their actors end, so look up
// again when one does not answer, or watch it.
//
// Lookup blocks until a member has answered. If none does, it returns the error of the last member
// that it asked, which wraps ctx.Err() if ctx has ended.
func Lookup[M any](ctx context.Context, c *Client, key receptionist.ServiceKey[M]) (listing receptionist.Listing[M], err error) {
	for _, address := range append([]string{c.Contact()}, addressesOf(c.View())...) {
		if listing, err = lookupAt(ctx, c, address, key); err == nil || ctx.Err() != nil {
			break
		}
	}
	return listing, err
}

func lookupAt[M any](ctx context.Context, c *Client, address string, key receptionist.ServiceKey[M]) (receptionist.Listing[M], error) {
	ctx, cancel := context.WithTimeoutCause(ctx, newsPatience, errSilent)
	defer cancel()
	return receptionist.Lookup(ctx, c.System, address, key)
}
