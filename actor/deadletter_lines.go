package actor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

// A letterKind is what dead letters have in common that share a limit in the log: the reason under
// which they are counted, and the type of the message. So one flood hides no other.
type letterKind struct {
	reason  error
	message reflect.Type
}

// letterLines limits the lines about the dead letters of one kind: the first ten have one each, and
// then there is one a minute with the number of the others.
type letterLines struct {
	limit lineLimit
	held  uint64               // how many have no line yet; if there are any, a timer will log one for all
	last  actorhook.DeadLetter // of those
}

// depth is as in deadLetterOf. What a shutdown leaves behind is nothing to worry about.
func logDeadLetter(s *System, d *DeadLetter, letter actorhook.DeadLetter, depth int) {
	if _, quiet := d.Message.(interface{ QuietDeadLetter() }); quiet || s.user.terminated() {
		return
	}
	switch now, wait := s.deadLetters.admit(letter); {
	case now:
		s.log.WithOptions(zap.AddCallerSkip(depth)).Warn("dead letter", // the caller is the code that has made it one
			zap.String("recipient", d.Recipient), sender(d.Sender), zap.String("type", fmt.Sprintf("%T", d.Message)), zap.Error(d.Reason))
	case wait > 0:
		time.AfterFunc(wait, func() { logHeldLetters(s, letterKind{letter.Reason, letter.Type}) })
	}
}

func sender(path string) zap.Field {
	if path == "" {
		return zap.Skip()
	}
	return zap.String("sender", path)
}

func logHeldLetters(s *System, of letterKind) {
	held, last := s.deadLetters.release(of)
	if held == 0 || s.user.terminated() {
		return
	}
	text := last.Text
	if text == "" && last.Reason != nil {
		text = last.Reason.Error()
	}
	s.log.WithOptions(zap.WithCaller(false)).Warn("more dead letters, the last of which has these fields", zap.Uint64("count", held),
		zap.String("recipient", last.Recipient), sender(last.Sender), zap.String("type", fmt.Sprint(last.Type)), zap.String("error", text))
}

// If not, the dead letter is held. For the first that is held, wait is how long it takes until
// release is to be called.
func (l *deadLetterLog) admit(letter actorhook.DeadLetter) (now bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := letterKind{letter.Reason, letter.Type}
	lines := l.lines[of]
	if lines == nil {
		if l.lines == nil {
			l.lines = make(map[letterKind]*letterLines)
		}
		lines = new(letterLines)
		l.lines[of] = lines
	}
	if lines.held == 0 {
		if now, wait = lines.limit.admit(time.Now()); now {
			return true, 0
		}
	}
	lines.held++
	lines.last = letter
	return false, wait
}

// Its caller logs a line for the held ones.
func (l *deadLetterLog) release(of letterKind) (held uint64, last actorhook.DeadLetter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines[of]
	lines.limit.admit(time.Now())
	held, last = lines.held, lines.last
	lines.held, lines.last = 0, actorhook.DeadLetter{}
	return held, last
}

const mostKept = 256

// In bytes.
const (
	longestPath   = 512
	longestReason = 256
)

// A keptDeadLetters has no message and no error of a user, so it keeps nothing else alive. Of
// messages it has encoded copies, if the system keeps any.
type keptDeadLetters struct {
	ring     []actorhook.DeadLetter // grows to most()
	last     int
	messages keptMessages
}

func (k *keptDeadLetters) most() int { return max(mostKept, k.messages.most) }

func describeDeadLetter(d *DeadLetter, known error) actorhook.DeadLetter {
	now := time.Now()
	kept := actorhook.DeadLetter{
		Recipient: shortened(d.Recipient, longestPath), Sender: shortened(d.Sender, longestPath), Type: reflect.TypeOf(d.Message),
		Reason: known, Count: 1, First: now, Last: now,
	}
	if d.Reason != nil && d.Reason != known { //nolint:errorlint // it may wrap known
		if text, err := guard.Value(d.Reason.Error); err == nil {
			kept.Text = shortened(text, longestReason)
		}
	}
	return kept
}

// A dead letter that differs from the newest only in its time counts as one more of it. message is
// nil if it is not kept.
func (k *keptDeadLetters) add(d actorhook.DeadLetter, message *keptMessage) {
	switch {
	case len(k.ring) > 0 && k.ring[k.last].Same(d):
		k.ring[k.last].Count++
		k.ring[k.last].Last = d.Last
	case len(k.ring) < k.most():
		k.last = len(k.ring)
		k.ring = append(k.ring, d)
	default:
		k.last = (k.last + 1) % len(k.ring)
		k.messages.forget(k.ring[k.last].Numbers)
		k.ring[k.last] = d
	}
	if message != nil {
		k.keep(message)
	}
}

// The result is a copy, newest first.
func (k *keptDeadLetters) newest() []actorhook.DeadLetter {
	n := len(k.ring)
	all := make([]actorhook.DeadLetter, 0, n)
	for i := range n {
		d := k.ring[(k.last-i+n)%n]
		d.Numbers = slices.Clone(d.Numbers)
		all = append(all, d)
	}
	return all
}

// A shorter text does not keep the memory of the rest.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most]) + "…"
}
