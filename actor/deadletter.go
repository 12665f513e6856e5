package actor

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
)

// A DeadLetter is a message that could not be delivered, as published on the event
// stream of the system in which that was found out.
type DeadLetter struct {
	Recipient string // path; "" for the zero ActorRef
	Message   any
	Reason    error // compare with errors.Is, for instance with [ErrTerminated]
}

// A carrier is a message of the framework that may carry one of the user, see
// [System.DeadLetter].
type carrier interface {
	Carried(s *System) (recipient string, msg any, ok bool)
}

// DeadLetter publishes msg as a dead letter, counts it, and logs it, but for when there are
// too many, when the system shuts down, and when msg has a method QuietDeadLetter(). It is
// for extensions that carry messages, and for actors that drop some by a rule of their own;
// a message of the type DeadLetter itself is only logged, so that nothing can go round in
// circles.
//
// An [Ask] or [AskToSelf] whose ref to reply to is in msg ends with reason, on whichever node
// it waits; so does one to which msg is the reply. The ref is found in structs, slices and
// pointers, exported or not, but not in maps and functions, nor beside a mutex.
//
// A msg with a method Carried(*System) (recipient string, msg any, ok bool) may carry
// another one: what that returns is the dead letter instead, or nothing unless ok.
func (s *System) DeadLetter(recipient string, msg any, reason error) {
	if c, ok := msg.(carrier); ok {
		to, carried, ok := s.carriedBy(c, recipient)
		if !ok {
			s.log.Debug("message of the framework not delivered", zap.String("recipient", recipient), zap.Error(reason))
			return
		}
		recipient, msg = to, carried
	}
	if _, circular := msg.(DeadLetter); !circular {
		s.events.publish(DeadLetter{Recipient: recipient, Message: msg, Reason: reason})
	}
	s.deadLetters.count(reason)
	if !s.user.terminated() { // what a shutdown leaves behind is nothing to worry about
		s.deadLetters.log(s.log, recipient, msg, reason)
	}
	s.refuse(recipient, msg, reason)
}

// carriedBy asks c, which may be of a type of the user's. Where that panics c itself is the
// dead letter.
func (s *System) carriedBy(c carrier, recipient string) (to string, msg any, ok bool) {
	if err := guard.Do(func() { to, msg, ok = c.Carried(s) }); err != nil {
		s.log.Error("the method Carried of a message has panicked", zap.String("type", fmt.Sprintf("%T", c)), zap.Error(err))
		return recipient, c, true
	}
	return to, msg, ok
}

func (s *System) deadLetter(to *core, msg any, reason error) {
	s.DeadLetter(to.fullString(), msg, reason)
}

// DeadLetters returns how many dead letters there have been.
func (s *System) DeadLetters() uint64 { return s.deadLetters.sum() }

// DeadLettersByReason returns how many dead letters there have been of each of the reasons
// that this package names, such as [ErrMailboxFull]; those of other reasons are under nil.
func (s *System) DeadLettersByReason() map[error]uint64 { return s.deadLetters.byReason() }

// deadLetterToNobody publishes on all systems, as what is nobody's belongs to none.
func deadLetterToNobody(path string, msg any) {
	systems.Range(func(s, _ any) bool {
		s.(*System).DeadLetter(path, msg, ErrNoRef) // only systems are stored
		return true
	})
}

// A deadLetterLog counts dead letters, and logs some.
type deadLetterLog struct {
	mu      sync.Mutex // guards reasons
	reasons map[error]uint64
	lines   lineLimit
}

// count counts one. An error is under the first of the reasons that it wraps.
func (l *deadLetterLog) count(reason error) {
	var known error
	if i := slices.IndexFunc(deadLetterReasons, func(r error) bool { return guard.Is(reason, r) }); i >= 0 {
		known = deadLetterReasons[i]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reasons == nil {
		l.reasons = make(map[error]uint64)
	}
	l.reasons[known]++
}

func (l *deadLetterLog) sum() (n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range l.reasons {
		n += of
	}
	return n
}

func (l *deadLetterLog) byReason() map[error]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.reasons)
}

func (l *deadLetterLog) log(log *zap.Logger, recipient string, msg any, reason error) {
	if _, quiet := msg.(interface{ QuietDeadLetter() }); quiet || !l.lines.admit(time.Now()) {
		return
	}
	log.WithOptions(zap.AddCallerSkip(2)).Warn("dead letter", // the caller is the code that has made it one
		zap.String("recipient", recipient), zap.String("type", fmt.Sprintf("%T", msg)), zap.Error(reason))
}
