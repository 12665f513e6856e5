package persistence

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// A journalStatus is what the persistent actors of a system have done with the journals of one
// store since the system started. The JSON names are a stable interface; docs/status.md describes
// them.
type journalStatus struct {
	Name    string      `json:"name"` // package of the store
	Appends callsStatus `json:"appends"`
	Claims  callsStatus `json:"claims"`
	Reads   callsStatus `json:"reads"`
	Events  uint64      `json:"events"` // that were appended

	Errors      map[string]uint64 `json:"errors"`      // by kind, those that have occurred
	LastError   string            `json:"lastError"`   // of any kind, "" for none
	LastErrorAt *time.Time        `json:"lastErrorAt"` // nil for none
}

// A callsStatus has the calls of one operation of a journal.
type callsStatus struct {
	Count uint64  `json:"count"` // with those that have failed
	Mean  float64 `json:"meanSeconds"`
	Most  float64 `json:"p99Seconds"` // 99 of 100 calls took at most that

	// The journal has failed in the last calls. A refusal of a call, such as a fenced write, is no
	// failure of the journal.
	InARow  uint64     `json:"failedInARow"` // calls; 0 if the last one has not failed
	Since   *time.Time `json:"failingSince"` // when the first of them failed; nil if the last one has not failed
	Failure string     `json:"failure"`      // of the last one; "" if it has not failed
}

// section is the Read of a [status.Section].
func (m *metrics) section() (map[string]any, []status.Problem) {
	all, problems := []journalStatus{}, []status.Problem(nil)
	for name, j := range m.journals.All() {
		one := j.status(name)
		all, problems = append(all, one), append(problems, one.problems()...)
	}
	return map[string]any{"journals": all}, problems
}

func (s journalStatus) problems() (found []status.Problem) {
	for _, c := range []struct {
		what string
		callsStatus
	}{{"Appends to", s.Appends}, {"Claims of ids in", s.Claims}, {"Reads of", s.Reads}} {
		if c.InARow > 0 {
			found = append(found, status.Problem{Kind: "journal", About: s.Name, Text: fmt.Sprintf("%s the journal %s fail: %s.", c.what, s.Name, c.Failure)})
		}
	}
	return found
}

func (m *journalMetrics) status(name string) journalStatus {
	s := journalStatus{
		Name: name, Appends: m.appends.status(), Claims: m.claims.status(), Reads: m.reads.status(),
		Events: m.appended.Load(), Errors: map[string]uint64{},
	}
	for kind := range m.errors {
		if n := m.errors[kind].Load(); n > 0 {
			s.Errors[errorName(kind)] = n
		}
	}
	if last := m.last.Load(); last != nil {
		s.LastError, s.LastErrorAt = last.text, &last.at
	}
	return s
}

func (c *calls) status() callsStatus {
	took := c.took.Read()
	s := callsStatus{Count: took.Count}
	if took.Count > 0 {
		s.Mean = took.Sum.Seconds() / float64(took.Count)
		s.Most = took.Quantile(0.99).Seconds()
	}
	if f := c.failing.Load(); f != nil {
		s.InARow, s.Since, s.Failure = f.inARow, &f.since, f.last.text
	}
	return s
}
