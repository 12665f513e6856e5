package actor

// WillBlock says that the handler is going to wait for something outside, perhaps for
// long: others that are ready are then run elsewhere at once, until the handler has
// returned. Nobody has to say so, as it is found out within a millisecond; it is for
// extensions that wait as a rule.
func (c *Context[M]) WillBlock() { c.cell.sys.scheduler.vacate(&c.cell.core) }

// ownerKey is the key under which the context of an actor has its core.
type ownerKey struct{}

// willBlock is WillBlock for who knows only a context, be it an actor's, or derived from
// one, or neither.
func willBlock(ctx interface{ Value(key any) any }) {
	if c, ok := ctx.Value(ownerKey{}).(*core); ok {
		c.sys.scheduler.vacate(c)
	}
}
