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
// extension.DeadLetter.
type carrier interface {
	Carried(s *System) (recipient string, msg any, ok bool)
}

// reportDeadLetter implements extension.DeadLetter.
func (s *System) reportDeadLetter(recipient string, msg any, reason error) {
	s.deadLetterOf(recipient, msg, reason, 3)
}

// deadLetterOf publishes, counts and logs a dead letter. depth is how many callers up the code
// is that made msg one.
func (s *System) deadLetterOf(recipient string, msg any, reason error, depth int) {
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
		s.deadLetters.log(s.log, recipient, msg, reason, depth)
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
	s.deadLetterOf(to.fullString(), msg, reason, 3)
}

// DeadLetters returns how many dead letters there have been.
func (s *System) DeadLetters() uint64 { return s.deadLetters.sum() }

// DeadLettersByReason returns how many dead letters there have been of each of the reasons
// that this package names, such as [ErrMailboxFull]; those of other reasons are under nil.
func (s *System) DeadLettersByReason() map[error]uint64 { return s.deadLetters.byReason() }

// deadLetterToNobody publishes on all systems, as what is nobody's belongs to none.
func deadLetterToNobody(path string, msg any) {
	systems.Range(func(s, _ any) bool {
		s.(*System).reportDeadLetter(path, msg, ErrNoRef) // only systems are stored
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

func (l *deadLetterLog) log(log *zap.Logger, recipient string, msg any, reason error, depth int) {
	if _, quiet := msg.(interface{ QuietDeadLetter() }); quiet || !l.lines.admit(time.Now()) {
		return
	}
	log.WithOptions(zap.AddCallerSkip(depth)).Warn("dead letter", // the caller is the code that has made it one
		zap.String("recipient", recipient), zap.String("type", fmt.Sprintf("%T", msg)), zap.Error(reason))
}
