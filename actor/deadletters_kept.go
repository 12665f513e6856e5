package actor

import (
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

const mostKept = 256

// In bytes.
const (
	longestPath   = 512
	longestReason = 256
)

// A keptDeadLetters has no message and no error of a user, so it keeps nothing else alive.
type keptDeadLetters struct {
	ring []actorhook.DeadLetter // grows to mostKept
	last int
}

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

// A dead letter that differs from the newest only in its time counts as one more of it.
func (k *keptDeadLetters) add(d actorhook.DeadLetter) {
	switch {
	case len(k.ring) > 0 && k.ring[k.last].Same(d):
		k.ring[k.last].Count++
		k.ring[k.last].Last = d.Last
	case len(k.ring) < mostKept:
		k.last = len(k.ring)
		k.ring = append(k.ring, d)
	default:
		k.last = (k.last + 1) % mostKept
		k.ring[k.last] = d
	}
}

// The result is a copy, newest first.
func (k *keptDeadLetters) newest() []actorhook.DeadLetter {
	n := len(k.ring)
	all := make([]actorhook.DeadLetter, 0, n)
	for i := range n {
		all = append(all, k.ring[(k.last-i+n)%n])
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
