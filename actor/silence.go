package actor

// OnAskTimeout implements extension.OnAskTimeout.
func (s internals) OnAskTimeout(why func(path string) error) { s.why.Store(&why) }

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
