package persistence

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/bylabel"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/permits"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence/journal"
)

// journalMetrics has what is counted of the calls of persistent actors to the journals of one name.
// A call that is repeated counts each time.
type journalMetrics struct {
	appends, claims, reads calls
	appended               atomic.Uint64 // events
	errors                 [len(journalErrors) + 1]atomic.Uint64
	last                   atomic.Pointer[journalFailure] // of any kind
}

// journalErrors are the errors that are told apart, the first of an error that counts. The counter
// behind theirs is of all others.
var journalErrors = [...]struct {
	err     error
	name    string
	refusal bool // the journal works, and does not accept the call
}{
	{ErrFenced, "fenced", true},
	{ErrConflict, "conflict", true},
	{ErrTooLarge, "too large", true},
	{ErrInvalid, "invalid", true},
	{ErrCorrupt, "corrupt", false},
	{ErrUnknown, "unknown outcome", false},
	{ErrUnavailable, "unavailable", false},
	{ErrFull, "full", false},
	{ErrClosed, "closed", false},
	{ErrCodec, "codec", true},
}

const otherError = "other"

func (m *journalMetrics) append(begun time.Time, records int, err error) time.Duration {
	if err == nil {
		m.appended.Add(uint64(records)) //nolint:gosec // a count
	}
	return m.ended(&m.appends, begun, err)
}

// claim counts a claim that began at begun. A claim that a later one refuses has fenced nobody off:
// after all nodes have been stopped, the first claim of a singleton finds the term of before.
func (m *journalMetrics) claim(begun time.Time, err error) {
	if errors.Is(err, ErrFenced) {
		m.claims.took.Observe(time.Since(begun))
		m.claims.worked()
		return
	}
	m.ended(&m.claims, begun, err)
}

// measured returns records, and counts each time that they are read.
func (m *journalMetrics) measured(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		begun := time.Now()
		var failed error
		defer func() { m.ended(&m.reads, begun, failed) }()
		for r, err := range records {
			failed = err
			if !yield(r, err) {
				return
			}
		}
	}
}

func (m *journalMetrics) ended(of *calls, begun time.Time, err error) time.Duration {
	took := time.Since(begun)
	of.took.Observe(took)
	if err == nil {
		of.worked()
		return took
	}
	kind := errorKind(err)
	m.errors[kind].Add(1)
	failure := failureOf(err)
	m.last.Store(&failure)
	switch {
	case kind < len(journalErrors) && journalErrors[kind].refusal:
		of.worked()
	case !errors.Is(err, context.Canceled): // else the caller has ended first
		of.failed(failure)
	}
	return took
}

func errorKind(err error) int {
	for i, one := range journalErrors {
		if errors.Is(err, one.err) {
			return i
		}
	}
	return len(journalErrors)
}

func errorName(kind int) string {
	if kind == len(journalErrors) {
		return otherError
	}
	return journalErrors[kind].name
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
		case *journal.Memory:
			return "memory"
		default:
			name, _, _ := strings.Cut(strings.TrimLeft(reflect.TypeOf(j).String(), "*"), ".")
			return name
		}
	}
}

func addDurations(to *telemetry.Family, took *histogram.Histogram, label string) {
	s := took.Read()
	to.AddDurations(s.Count, s.Sum, s.AtMost, label)
}

func (m *metrics) journalFamilies() []telemetry.Family {
	appends := telemetry.NewHistogram("understudy_journal_append_seconds", "Appends to a journal, each of one batch of events.", "journal")
	claims := telemetry.NewHistogram("understudy_journal_claim_seconds", "Claims of persistence ids in a journal.", "journal")
	reads := telemetry.NewHistogram("understudy_journal_read_seconds", "Reads of the events of one actor, with the time to apply them.", "journal")
	appended := telemetry.NewCounter("understudy_journal_appended_events_total", "Events that a journal has stored for persistent actors.", "journal")
	failures := telemetry.NewCounter("understudy_journal_errors_total", "Appends, claims and reads that have failed, by error.", "journal", "error")
	for name, j := range m.journals.All() {
		addDurations(&appends, &j.appends.took, name)
		addDurations(&claims, &j.claims.took, name)
		addDurations(&reads, &j.reads.took, name)
		appended.Add(float64(j.appended.Load()), name)
		for kind := range j.errors {
			failures.Add(float64(j.errors[kind].Load()), name, errorName(kind))
		}
	}
	return []telemetry.Family{appends, claims, reads, appended, failures}
}

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

func failureOf(err error) journalFailure {
	return journalFailure{status.Text(guard.Text(err)), time.Now()}
}

type metrics struct {
	journals bylabel.Map[journalMetrics] // by the name of the store

	recoveries      histogram.Histogram
	failed, waiting atomic.Int64  // recoveries
	recovered       atomic.Uint64 // events

	snapshotsSaved, snapshotsFailed atomic.Uint64

	lateness histogram.Histogram // of timers, at their first attempts
	repeated atomic.Uint64       // attempts of timers after the first
}

// metricsOf returns the metrics of s, which its telemetry and its status page show from now on.
func metricsOf(s *actor.System) *metrics {
	return extension.Ensure(s, func() *metrics {
		m := &metrics{}
		telemetry.AddSource(s, m.families)
		status.AddSection(s, status.Section{Level: status.Stores, Read: m.section})
		return m
	})
}

func (m *metrics) wait(ctx context.Context, p *permits.Permits) error {
	if p.Try() {
		return nil
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	return p.Acquire(ctx, permits.ClassOf(ctx))
}

func (m *metrics) restored(begun time.Time, events uint64) {
	m.recoveries.Observe(time.Since(begun))
	m.recovered.Add(events)
}

func (m *metrics) snapshot(err error) {
	if err != nil {
		m.snapshotsFailed.Add(1)
		return
	}
	m.snapshotsSaved.Add(1)
}

func (m *metrics) fired(late time.Duration, attempt uint64) {
	if attempt > 1 {
		m.repeated.Add(1)
		return
	}
	m.lateness.Observe(max(late, 0))
}

func (m *metrics) families() []telemetry.Family {
	recoveries := telemetry.NewHistogram("understudy_recovery_seconds", "Recoveries of persistent actors, with the wait for other recoveries.")
	recoveries.AddDurations(m.recoveries.Read().Parts())
	lateness := telemetry.NewHistogram("understudy_stored_timer_lateness_seconds", "How long after their time the stored timers of persistent actors have fired, at their first attempts.")
	lateness.AddDurations(m.lateness.Read().Parts())
	return append([]telemetry.Family{
		recoveries, lateness,
		telemetry.NewCounter("understudy_stored_timer_repetitions_total", "Attempts to deliver the message of a stored timer after the first one.").With(float64(m.repeated.Load())),
		telemetry.NewCounter("understudy_recovery_failures_total", "Recoveries of persistent actors that have failed or were stopped.").With(float64(m.failed.Load())),
		telemetry.NewGauge("understudy_recoveries_waiting", "Recoveries that wait because too many others are under way.").With(float64(m.waiting.Load())),
		telemetry.NewCounter("understudy_recovered_events_total", "Events that recoveries have replayed.").With(float64(m.recovered.Load())),
		telemetry.NewCounter("understudy_snapshots_saved_total", "Snapshots that have been saved.").With(float64(m.snapshotsSaved.Load())),
		telemetry.NewCounter("understudy_snapshot_failures_total", "Snapshots that could not be saved.").With(float64(m.snapshotsFailed.Load())),
	}, m.journalFamilies()...)
}
