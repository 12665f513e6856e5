package persistence

import (
	"errors"
	"iter"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/persistence/journal"
)

// journalMetrics has what is counted of the calls of persistent actors to the journals of one name.
// A call that is repeated counts each time.
type journalMetrics struct {
	appends, claims, reads histogram.Histogram
	appended               atomic.Uint64 // events
	errors                 [len(journalErrors) + 1]atomic.Uint64
}

// journalErrors are the errors that are told apart, the first of an error that counts. The counter
// behind theirs is of all others.
var journalErrors = [...]struct {
	err  error
	name string
}{
	{ErrFenced, "fenced"},
	{ErrConflict, "conflict"},
	{ErrTooLarge, "too large"},
	{ErrInvalid, "invalid"},
	{ErrCorrupt, "corrupt"},
	{ErrUnknown, "unknown outcome"},
	{ErrUnavailable, "unavailable"},
	{ErrFull, "full"},
	{ErrClosed, "closed"},
	{ErrCodec, "codec"},
}

// otherError is the name of all other errors.
const otherError = "other"

// append counts an append of records that began at begun, and returns how long it took.
func (m *journalMetrics) append(begun time.Time, records int, err error) time.Duration {
	took := time.Since(begun)
	m.appends.Observe(took)
	if err == nil {
		m.appended.Add(uint64(records)) //nolint:gosec // a count
	}
	m.failed(err)
	return took
}

// claim counts a claim that began at begun.
func (m *journalMetrics) claim(begun time.Time, err error) {
	m.claims.Observe(time.Since(begun))
	m.failed(err)
}

// measured returns records, and counts each time that they are read.
func (m *journalMetrics) measured(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		defer func(begun time.Time) { m.reads.Observe(time.Since(begun)) }(time.Now())
		for r, err := range records {
			m.failed(err)
			if !yield(r, err) {
				return
			}
		}
	}
}

// failed counts err, unless it is nil.
func (m *journalMetrics) failed(err error) {
	if err == nil {
		return
	}
	for i, one := range journalErrors {
		if errors.Is(err, one.err) {
			m.errors[i].Add(1)
			return
		}
	}
	m.errors[len(journalErrors)].Add(1)
}

// storeName returns the name of the package that implements the innermost journal: "sqlite" for
// persistence/sqlite.
func storeName(j Journal) string {
	for {
		switch outer := j.(type) {
		case *stateJournal:
			j = outer.Journal
		case journal.Wrapper:
			j = outer.Unwrap()
		default:
			name, _, _ := strings.Cut(strings.TrimLeft(reflect.TypeOf(j).String(), "*"), ".")
			return name
		}
	}
}

func (m *metrics) journalFamilies() []telemetry.Family {
	appends := telemetry.NewHistogram("understudy_journal_append_seconds", "Appends to a journal, each of one batch of events.", "journal")
	claims := telemetry.NewHistogram("understudy_journal_claim_seconds", "Claims of persistence ids in a journal.", "journal")
	reads := telemetry.NewHistogram("understudy_journal_read_seconds", "Reads of the events of one actor, with the time to apply them.", "journal")
	appended := telemetry.NewCounter("understudy_journal_appended_events_total", "Events that a journal has stored for persistent actors.", "journal")
	failures := telemetry.NewCounter("understudy_journal_errors_total", "Appends, claims and reads that have failed, by error.", "journal", "error")
	for name, j := range m.journals.All() {
		appends.AddDurations(j.appends.Read(), name)
		claims.AddDurations(j.claims.Read(), name)
		reads.AddDurations(j.reads.Read(), name)
		appended.Add(float64(j.appended.Load()), name)
		for i, one := range journalErrors {
			failures.Add(float64(j.errors[i].Load()), name, one.name)
		}
		failures.Add(float64(j.errors[len(journalErrors)].Load()), name, otherError)
	}
	return []telemetry.Family{appends, claims, reads, appended, failures}
}
