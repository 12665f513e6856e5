package actor

import "context"

// ownerKey is the key under which the context of an actor has its core.
type ownerKey struct{}

// willBlock implements extension.WillBlock.
func willBlock(ctx context.Context) {
	if c, ok := ctx.Value(ownerKey{}).(*core); ok {
		c.sys.scheduler.vacate(c)
	}
}
