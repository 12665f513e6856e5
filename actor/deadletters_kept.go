package actor

import (
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
)

// mostKept is how many descriptions of dead letters a system keeps.
const mostKept = 256

// The longest texts that are kept, in bytes.
const (
	longestPath   = 512
	longestReason = 256
)

// A keptDeadLetters is a ring of the last dead letters. It has no message and no error of a user,
// so it keeps nothing else alive.
type keptDeadLetters struct {
	ring []actorhook.DeadLetter // grows to mostKept
	last int                    // index of the newest
}

// describeDeadLetter returns what is kept of a dead letter. known is its reason among those of this
// package, or nil.
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

// add keeps d. If it differs from the newest only in its time, that one is counted once more.
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

// newest returns a copy, newest first.
func (k *keptDeadLetters) newest() []actorhook.DeadLetter {
	n := len(k.ring)
	all := make([]actorhook.DeadLetter, 0, n)
	for i := range n {
		all = append(all, k.ring[(k.last-i+n)%n])
	}
	return all
}

// shortened returns s, or the beginning of a longer s without the memory of the rest.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most]) + "…"
}
