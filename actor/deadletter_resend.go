package actor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// A resent is a message that was sent again, as long as somebody waits for what becomes of it. A
// letter of the same content to the same recipient counts as its death.
type resent struct {
	*keptMessage
	to   string
	dead chan actorhook.Resent // has room for one
}

func (r *resent) is(recipient string, packed payload.Payload) bool {
	recipient = withoutNumber(recipient)
	return (recipient == r.to || recipient == withoutNumber(r.recipient)) &&
		packed.Type == r.packed.Type && slices.Equal(packed.Data, r.packed.Data)
}

func withoutNumber(path string) string {
	path, _, _ = strings.Cut(path, "#")
	return path
}

// resendLetter takes the message before it sends it: of two callers at once, one gets an error.
func resendLetter(s *System, number uint64, to func(recipient string) string) (actorhook.Resent, error) {
	m := s.deadLetters.find(number)
	if m == nil {
		return actorhook.Resent{}, notKept(number)
	}
	msg, err := payload.Unpack(m.packed, binder{s})
	if err != nil {
		return actorhook.Resent{}, fmt.Errorf("dead letter d%d is still kept, and not sent: %w", number, err)
	}
	r := &resent{keptMessage: m, to: withoutNumber(to(m.recipient)), dead: make(chan actorhook.Resent, 1)}
	if !s.deadLetters.begin(r) {
		return actorhook.Resent{}, notKept(number)
	}
	defer s.deadLetters.end(r)
	return r.send(s, msg), nil
}

func (r *resent) send(s *System, msg any) actorhook.Resent {
	to := s.resolve(r.to) // whichever actor has the path now
	handled := make(chan error, 1)
	c, here := to.impl.(*cell)
	if here && c.box.takes(msg) == nil {
		refInternals{to}.Deliver(msg, metadata.Metadata{}, func(err error) {
			if _, failed := errors.AsType[*actorhook.HandlingError](err); err != nil && !failed {
				s.deadLetter(to, msg, err)
				return
			}
			handled <- err
		})
	} else {
		_ = tellAny(to, msg, entrance{parked: true}) // which reports it
	}
	timer := time.NewTimer(actorhook.ResendPatience)
	defer timer.Stop()
	select {
	case again := <-r.dead:
		return again
	case err := <-handled:
		return actorhook.Resent{To: r.to, Here: true, Failed: err}
	case <-timer.C:
		return actorhook.Resent{To: r.to, Here: here}
	}
}

func notKept(number uint64) error {
	return fmt.Errorf("no message of a dead letter is kept here under the number d%d: it was sent again or discarded, or newer ones have taken its place; understudy dead-letters lists the others", number)
}

func (l *deadLetterLog) discard(number uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept.take(number) == nil {
		return notKept(number)
	}
	return nil
}

func (l *deadLetterLog) find(number uint64) *keptMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept.messages.find(number)
}

func (l *deadLetterLog) begin(r *resent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept.take(r.number) == nil {
		return false
	}
	l.kept.messages.resent = append(l.kept.messages.resent, r)
	return true
}

func (l *deadLetterLog) end(r *resent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := &l.kept.messages
	of.resent = slices.DeleteFunc(of.resent, func(other *resent) bool { return other == r })
}

// died ends the wait for what becomes of a message that was sent again.
func (k *keptMessages) died(m *keptMessage, reason error) {
	i := slices.IndexFunc(k.resent, func(r *resent) bool { return r.is(m.recipient, m.packed) })
	if i < 0 {
		return
	}
	r := k.resent[i]
	k.resent = slices.Delete(k.resent, i, i+1)
	r.dead <- actorhook.Resent{To: r.to, Dead: reason, Number: m.number}
}
