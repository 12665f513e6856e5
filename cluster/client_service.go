package cluster

import (
	"context"

	"github.com/understudy-go/understudy/actor/receptionist"
)

// Lookup finds the instances of a service of the cluster, see package receptionist: those
// that a member knows of now. It asks the client's contact, and the other members when that
// does not answer. The refs of the listing can be told and asked by the client; they go
// stale as actors end, so look up again when one does not answer, or watch it.
//
// It blocks until a member has answered. Its error is that of the last one that was asked,
// and wraps ctx.Err() when ctx has ended.
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
