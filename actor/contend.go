package actor

const (
	// backoffRounds is how often a mutex is tried for, with pauses in between, until it is
	// waited for.
	backoffRounds = 3
	// backoffSteps makes about a third of a microsecond, the first pause; each is twice the
	// one before.
	backoffSteps = 500
)

// contend locks mu, which somebody else has just had. Whoever tells from several processors at
// once does so quickest in bursts: what a message has to touch then stays in the cache of one of
// them. So the loser stays away for a moment (exponential backoff, as in T. E. Anderson, The
// performance of spin lock alternatives, 1990), and waits in the queue of the mutex after that.
func (c *core) contend() {
	for round := range backoffRounds {
		for range backoffSteps << round { // nothing that others write is looked at
		}
		if c.mu.TryLock() {
			return
		}
	}
	c.mu.Lock()
}
