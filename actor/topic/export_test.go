package topic

import "github.com/understudy-go/understudy/actor"

// Topics returns how many topics s has in memory.
func Topics(s *actor.System) int {
	o := of(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.byName)
}
