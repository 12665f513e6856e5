package actor

// A Silence tells why the actor at a path within this system, such as "/user/name", does
// not answer at present; nil when it knows of no reason. Put into a system with [Extend],
// it is asked by every [Ask] that ends without a reply, in the goroutine of that one; it
// must not block.
type Silence func(path string) error

// silence returns why c does not answer, if anybody knows.
func (c *core) silence() error {
	if c.address() != c.sys.address {
		return nil
	}
	if why, ok := Extension[Silence](c.sys); ok {
		return why(c.path())
	}
	return nil
}
