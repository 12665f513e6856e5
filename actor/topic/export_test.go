package topic

import "github.com/understudy-go/understudy/actor"

// Boards returns how many topics s keeps anything of.
func Boards(s *actor.System) int {
	o := officeOf(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.boards)
}
