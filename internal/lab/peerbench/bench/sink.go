package bench

import "time"

// mostSenders is how many goroutines send to one actor at most.
const mostSenders = 8

// A Sink is what the actor at the end of a scenario does. It ends the process unless the messages
// of each sender arrive in the order in which they were sent, each once.
type Sink struct {
	left  int
	next  [mostSenders]int // per sender, the number of its next message
	pause time.Duration    // for which each message blocks the handler
	done  func()           // is called with the last message
}

func newSink(messages int, done func()) *Sink { return &Sink{left: messages, done: done} }

// Got handles a message. Only the goroutine that runs the actor calls it.
func (s *Sink) Got(m Small) {
	if m.A != s.next[m.B] {
		fail("message %d of sender %d arrived, not %d", m.A, m.B, s.next[m.B])
	}
	s.next[m.B]++
	if s.pause > 0 {
		time.Sleep(s.pause)
	}
	if s.left--; s.left == 0 {
		s.done()
	}
}
