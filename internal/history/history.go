package history

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a ring.
const (
	Size = 200 // entries

	reach    = 8           // how many of the newest entries a new event is compared with
	together = time.Second // events about different subjects within this time share an entry
	named    = 4           // so many subjects
	longest  = 500         // bytes of a text
)

// An Event is one decision, or several of the same kind for the same reason. The JSON names are a
// stable interface; docs/status.md describes them.
type Event struct {
	Kind    string    `json:"kind"`    // what happened
	Subject string    `json:"subject"` // names of members or singletons; "" if it is about no one
	Reason  string    `json:"reason"`  // why, or ""
	Node    string    `json:"node"`    // the node that remembers it
	Count   uint64    `json:"count"`   // how many there were
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// A Ring keeps the last Size entries. All methods may be called by any goroutine. The zero value is
// ready to use.
type Ring struct {
	mu      sync.Mutex // guards entries
	entries []entry    // in the order of their last events
}

// Its subjects are still apart.
type entry struct {
	kind, reason string
	subjects     []string
	more         bool // there are further subjects
	count        uint64
	first, last  time.Time
}

// New returns an empty ring.
func New() *Ring { return &Ring{} }

// Add adds an event. A repetition of one of the last events is counted with it. Events of one kind
// and reason about different subjects share an entry if they happen within a second.
func (r *Ring) Add(now time.Time, kind, subject, reason string) {
	kind, subject, reason = cut(kind), cut(subject), cut(reason)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.takeOut(now, kind, subject, reason)
	e.count++
	e.last = now
	e.name(subject)
	if len(r.entries) == Size {
		r.entries = slices.Delete(r.entries, 0, 1)
	}
	r.entries = append(r.entries, e)
}

// Without an entry to which the event belongs, it returns a new one.
func (r *Ring) takeOut(now time.Time, kind, subject, reason string) entry {
	for i := len(r.entries) - 1; i >= max(0, len(r.entries)-reach); i-- {
		if e := r.entries[i]; e.kind == kind && e.reason == reason && e.takes(now, subject) {
			r.entries = slices.Delete(r.entries, i, i+1)
			return e
		}
	}
	return entry{kind: kind, reason: reason, first: now}
}

func (e *entry) takes(now time.Time, subject string) bool {
	return len(e.subjects) == 1 && e.subjects[0] == subject || now.Sub(e.last) <= together
}

func (e *entry) name(subject string) {
	switch {
	case slices.Contains(e.subjects, subject):
	case len(e.subjects) < named:
		e.subjects = append(e.subjects, subject)
	default:
		e.more = true
	}
}

// Events returns the entries, newest first, as those of a node with a name.
func (r *Ring) Events(node string) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Event, 0, len(r.entries))
	for _, e := range slices.Backward(r.entries) {
		all = append(all, Event{Kind: e.kind, Subject: e.subject(), Reason: e.reason, Node: node, Count: e.count, First: e.first, Last: e.last})
	}
	return all
}

func (e *entry) subject() string {
	text := strings.Join(e.subjects, ", ")
	if e.more {
		text += " and others"
	}
	return text
}

func cut(text string) string {
	if len(text) <= longest {
		return text
	}
	end := longest
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
