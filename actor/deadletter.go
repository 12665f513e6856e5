package actor

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

// A DeadLetter is a message that could not be delivered. It is published as an event of the system
// that found out.
type DeadLetter struct {
	Recipient string // path; "" for the zero ActorRef
	Message   any
	Reason    error // compare with errors.Is, for instance with [ErrTerminated]

	// Sender is the path of the actor that has sent the message, if it asked or sent a ref from
	// [Adapt] along. Of an ask on another node it is the path of the ask, which begins with that
	// node. It is "" if the sender is not known, as of other messages.
	Sender string
}

// A carrier is a message of the framework that may carry one of the user, see extension.DeadLetter.
type carrier interface {
	Carried(s *System) (recipient string, msg any, ok bool)
}

func (s *System) reportDeadLetter(recipient string, msg any, reason error) {
	s.deadLetterOf(recipient, msg, reason, 3) //nolint:errcheck // it returns a reason
}

// depth is how many callers up the code is that made msg a dead letter. known is the reason under
// which it is counted; ok is false for a message of the framework, which is no dead letter.
func (s *System) deadLetterOf(recipient string, msg any, reason error, depth int) (known error, ok bool) { //nolint:revive // known is no failure
	if c, ok := msg.(carrier); ok {
		to, carried, ok := s.carriedBy(c, recipient)
		if !ok {
			s.log.Debug("message of the framework not delivered", zap.String("recipient", recipient), zap.Error(reason))
			return nil, false
		}
		recipient, msg = to, carried
	}
	refs := s.refsOf(msg)
	d := DeadLetter{Recipient: recipient, Message: msg, Reason: reason, Sender: senderOf(refs)}
	letter := s.deadLetters.note(&d, refs) // first, so that subscribers find it among those that are kept
	if _, circular := msg.(DeadLetter); !circular {
		s.events.publish(d)
	}
	logDeadLetter(s, &d, letter, depth)
	s.refuse(recipient, refs, reason)
	return letter.Reason, true
}

// If the user's method panics, c itself is the dead letter.
func (s *System) carriedBy(c carrier, recipient string) (to string, msg any, ok bool) {
	if err := guard.Do(func() { to, msg, ok = c.Carried(s) }); err != nil {
		s.log.Error("the method Carried of a message has panicked", zap.String("type", fmt.Sprintf("%T", c)), zap.Error(err))
		return recipient, c, true
	}
	return to, msg, ok
}

func (s *System) deadLetter(to *core, msg any, reason error) {
	if known, ok := s.deadLetterOf(to.fullString(), msg, reason, 3); ok && to.actor().ofCell() {
		to.outermost().lost(known)
	}
}

// DeadLetters returns how many dead letters there have been.
func (s *System) DeadLetters() uint64 { return s.deadLetters.sum() }

// DeadLettersByReason yields the number of dead letters for each reason that has occurred, in the
// order in which this package declares the reasons, such as [ErrMailboxFull]. The last reason is
// nil, for all others together.
func (s *System) DeadLettersByReason() iter.Seq2[error, uint64] {
	return func(yield func(reason error, count uint64) bool) {
		counts := s.deadLetters.byReason()
		for _, reason := range append(slices.Clip(deadLetterReasons), nil) {
			if n := counts[reason]; n > 0 && !yield(reason, n) {
				return
			}
		}
	}
}

func deadLetterOfNoSystem(path string, msg any) {
	systems.Range(func(s, _ any) bool {
		s.(*System).reportDeadLetter(path, msg, ErrNoRef) // only systems are stored
		return true
	})
}

type deadLetterLog struct {
	mu      sync.Mutex // guards all below
	reasons map[error]uint64
	kept    keptDeadLetters
	lines   map[letterKind]*letterLines
}

func (l *deadLetterLog) note(d *DeadLetter, refs []*core) actorhook.DeadLetter {
	var known error
	if i := slices.IndexFunc(deadLetterReasons, func(r error) bool { return guard.Is(d.Reason, r) }); i >= 0 {
		known = deadLetterReasons[i]
	}
	letter := describeDeadLetter(d, known)
	message := l.kept.messages.of(d, refs, &letter)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reasons == nil {
		l.reasons = make(map[error]uint64)
	}
	l.reasons[known]++
	l.kept.add(letter, message)
	if message != nil {
		l.kept.messages.died(message, d.Reason)
	}
	return letter
}

func (l *deadLetterLog) newest() []actorhook.DeadLetter {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.newest()
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

// lossReasons are the reasons by which the losses of actors are counted. The first two say that a
// bound has refused the message, the others that its ask had ended or would hardly get an answer in
// time. The last place of what counts by them is for all other reasons.
var lossReasons = [...]error{ErrMailboxFull, ErrStashFull, ErrWithdrawn, ErrOverloaded}

type (
	// core.mu guards them.
	losses struct {
		counts [len(lossReasons) + 1]uint64
		last   time.Time
	}
	kindLosses [len(lossReasons) + 1]atomic.Uint64
)

// reason is one of those under which dead letters are counted.
func (c *cell) lost(reason error) {
	at := slices.Index(lossReasons[:], reason)
	if at < 0 {
		at = len(lossReasons)
	}
	c.tally.counts.of.losses[at].Add(1)
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	of := c.core.ownRelations()
	if of.losses == nil {
		of.losses = new(losses)
	}
	of.losses.counts[at]++
	of.losses.last = time.Now()
}

func (l *losses) sum() (n uint64) {
	for _, count := range l.counts {
		n += count
	}
	return n
}

func (l *losses) byReason() map[string]uint64 {
	all := map[string]uint64{}
	for i, count := range l.counts {
		if count > 0 {
			all[lossReason(i)] = count
		}
	}
	return all
}

func (l *kindLosses) byReason() map[string]uint64 {
	all := map[string]uint64{}
	for i := range l {
		all[lossReason(i)] = l[i].Load()
	}
	return all
}

func lossReason(i int) string {
	if i == len(lossReasons) {
		return actorhook.ReasonText(nil)
	}
	return actorhook.ReasonText(lossReasons[i])
}
