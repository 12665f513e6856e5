package actor

// ExplainSilence has every [Ask] of an actor of this system that ends without a reply say
// why: what why says of the path within the system, such as "/user/name"; nil when it knows
// of no reason. It is called in the goroutine of the ask, and must not block. A later why
// takes the place of an earlier one.
func (s *System) ExplainSilence(why func(path string) error) { s.why.Store(&why) }

// silence returns why c does not answer, if anybody knows.
func (c *core) silence() error {
	if c.address() != c.sys.address {
		return nil
	}
	if why := c.sys.why.Load(); why != nil {
		return (*why)(c.path())
	}
	return nil
}
