package persistence

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/storestatus"
)

type calls struct {
	took    histogram.Histogram
	failing atomic.Pointer[failing] // nil while it works
}

type failing struct {
	since  time.Time
	inARow uint64
	last   journalFailure
}

func (c *calls) worked() {
	if c.failing.Load() != nil {
		c.failing.Store(nil)
	}
}

func (c *calls) failed(f journalFailure) {
	for {
		before := c.failing.Load()
		now := failing{since: f.at, inARow: 1, last: f}
		if before != nil {
			now.since, now.inARow = before.since, before.inARow+1
		}
		if c.failing.CompareAndSwap(before, &now) {
			return
		}
	}
}

type journalFailure struct {
	text string
	at   time.Time
}

const mostFailureText = 300

func failureOf(err error) journalFailure {
	text := guard.Text(err)
	if len(text) > mostFailureText {
		text = text[:mostFailureText] + "…"
	}
	return journalFailure{strings.ToValidUTF8(text, "\uFFFD"), time.Now()}
}

func (m *metrics) status() []storestatus.Journal {
	all := []storestatus.Journal{}
	for name, j := range m.journals.All() {
		all = append(all, j.status(name))
	}
	return all
}

func (m *journalMetrics) status(name string) storestatus.Journal {
	s := storestatus.Journal{
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

func (c *calls) status() storestatus.Calls {
	took := c.took.Read()
	s := storestatus.Calls{Count: took.Count}
	if took.Count > 0 {
		s.Mean = took.Sum.Seconds() / float64(took.Count)
		s.Most = took.Quantile(0.99).Seconds()
	}
	if f := c.failing.Load(); f != nil {
		s.InARow, s.Since, s.Failure = f.inARow, &f.since, f.last.text
	}
	return s
}
