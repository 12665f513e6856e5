package actor

import "time"

// TellAfter tells the actor msg after d, whoever lives or has ended by then; msg is a dead
// letter when the actor has. It may be called from any goroutine. cancel keeps it from
// happening; it returns false when it is too late, or was called before. An actor that
// tells itself something later uses [Context.After].
func (r ActorRef[M]) TellAfter(d time.Duration, msg M) (cancel func() bool) {
	return time.AfterFunc(d, func() { r.Tell(msg) }).Stop
}
