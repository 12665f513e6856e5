package projection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A Command is a message to the actor of a projection: [GetStatus] or [CatchUp].
type Command interface{ command() }

// GetStatus asks for the [Status]. The actor replies at once, even if the workers are busy.
type GetStatus struct{ ReplyTo actor.ActorRef[Status] }

// CatchUp asks for the [Status] after all events have been handled that the journal shows when the
// command arrives. If a client sends CatchUp after an event was acknowledged, it then finds the
// event in the read model. A journal that delays events while it waits for earlier ones may show
// the event later.
type CatchUp struct{ ReplyTo actor.ActorRef[Status] }

func (GetStatus) command() {}
func (CatchUp) command()   {}

func init() {
	actor.RegisterType[GetStatus]("understudy.projection.get-status")
	actor.RegisterType[CatchUp]("understudy.projection.catch-up")
	actor.RegisterType[Status]("understudy.projection.status")
}

// A Status is the progress of a projection.
type Status struct {
	Name    string
	Workers []WorkerStatus
}

// A WorkerStatus is the progress of one worker since the start of its projection.
type WorkerStatus struct {
	Slices   journal.SliceRange
	Offset   journal.Offset // the stored offset
	Handled  uint64         // events, without rolled back ones
	Skipped  uint64         // skipped events
	Last     time.Time      // when the last handled event was written
	Lag      time.Duration  // from Last until that event was handled
	Failures int            // in a row
	Failure  string         // the last one, "" for none
	Held     []HeldID       // held persistence ids, by name
}

// A HeldID is a persistence id whose events a projection holds back, because one of them cannot be
// decoded.
type HeldID struct {
	ID      string
	From    uint64 // the sequence number of the event that cannot be decoded
	Last    uint64 // of the last event that has arrived since, or From
	Failure string // why it cannot be decoded
}

// Failing returns the first failure that stops a worker, or else the first that holds back a
// persistence id, or "".
func (s Status) Failing() string {
	for _, w := range s.Workers {
		if w.Failure != "" {
			return w.Failure
		}
	}
	for _, w := range s.Workers {
		if len(w.Held) > 0 {
			return w.Held[0].Failure
		}
	}
	return ""
}

type report struct {
	mu       sync.Mutex // guards all below
	status   WorkerStatus
	behind   time.Time // when the last event was written before the oldest that is left; zero for none left
	failures uint64    // in all
}

func (r *report) update(f func(*WorkerStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.status)
}

func (r *report) get() WorkerStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func (r *report) found(written time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.behind.IsZero() {
		r.behind = written
	}
}

func (r *report) handled(written time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = written
}

// A nil err means that no event is left.
func (r *report) ended(err error) {
	var text string
	if err != nil {
		text = guard.Text(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failures++
		r.status.Failures++
		r.status.Failure = text
		return
	}
	r.behind = time.Time{}
	r.status.Failures, r.status.Failure = 0, ""
}

type figures struct {
	lag                        time.Duration
	handled, skipped, failures uint64
	stalled, held              int // workers, and persistence ids
}

// add adds the numbers of a worker. The lag is the longest.
func (f *figures) add(r *report, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.behind.IsZero() {
		f.lag = max(f.lag, now.Sub(r.behind))
	}
	f.handled += r.status.Handled
	f.skipped += r.status.Skipped
	f.failures += r.failures
	f.held += len(r.status.Held)
	if r.status.Failures > 0 {
		f.stalled++
	}
}

func (c *coordinator[E]) figures() (f figures) {
	now := time.Now()
	for _, w := range c.workers {
		f.add(&w.report, now)
	}
	return f
}

func (c *coordinator[E]) shown() shown {
	f, now := c.figures(), c.status(c.workers)
	return shown{
		Name: c.name, Lag: f.lag.Seconds(), Events: f.handled, Skipped: f.skipped, Failures: f.failures,
		Stalled: f.stalled, Held: f.held, HeldIDs: shownHeld(now), Failure: now.Failing(),
	}
}

func (c *coordinator[E]) families() []telemetry.Family {
	f := c.figures()
	return []telemetry.Family{
		telemetry.NewGauge("understudy_projection_lag_seconds", "How far a projection is behind its journal, 0 when it has caught up.", "projection").With(f.lag.Seconds(), c.name),
		telemetry.NewCounter("understudy_projection_events_total", "Events that a projection has handled.", "projection").With(float64(f.handled), c.name),
		telemetry.NewCounter("understudy_projection_skipped_events_total", "Events that a projection has skipped, and lacks.", "projection").With(float64(f.skipped), c.name),
		telemetry.NewCounter("understudy_projection_failures_total", "Failures of the workers of a projection, which try again.", "projection").With(float64(f.failures), c.name),
		telemetry.NewGauge("understudy_projection_stalled", "Workers of a projection that have failed, and have not caught up since.", "projection").With(float64(f.stalled), c.name),
		telemetry.NewGauge("understudy_projection_held_ids", "Persistence ids whose events a projection holds back, because it cannot decode one.", "projection").With(float64(f.held), c.name),
	}
}

// shown is what the status page shows of a projection. The JSON names are a stable interface;
// docs/status.md describes them.
type shown struct {
	Name     string  `json:"name"`
	Lag      float64 `json:"lagSeconds"` // 0 when it has caught up
	Events   uint64  `json:"events"`     // handled since it started
	Skipped  uint64  `json:"skipped"`    // events
	Failures uint64  `json:"failures"`
	Stalled  int     `json:"stalled"` // workers that have failed, and have not caught up since
	Held     int     `json:"held"`    // persistence ids whose events it holds back
	Failure  string  `json:"failure"` // why it is stalled, or holds something back; or ""

	HeldIDs []shownID `json:"heldIDs"` // at most mostHeldShown of them
}

type shownID struct {
	ID      string `json:"id"`
	From    uint64 `json:"from"`    // the number of the event that cannot be decoded
	Last    uint64 `json:"last"`    // of the last event that has arrived since
	Failure string `json:"failure"` // why it cannot be decoded
}

const mostHeldShown = 100

func shownHeld(s Status) []shownID {
	all := []shownID{}
	for _, w := range s.Workers {
		for _, h := range w.Held[:min(len(w.Held), mostHeldShown-len(all))] {
			all = append(all, shownID{h.ID, h.From, h.Last, status.Text(h.Failure)})
		}
	}
	return all
}

// running are the projections that run on a node.
type running struct {
	mu  sync.Mutex // guards all
	all map[*one]struct{}
}

// one is a projection that runs. Any goroutine may call its functions.
type one struct {
	read  func() shown
	retry func(tried func())
}

func runningOn(s *actor.System) *running {
	return extension.Ensure(s, func() *running {
		r := &running{all: map[*one]struct{}{}}
		status.AddSection(s, status.Section{Level: status.StoreReaders, Read: r.section, Retry: r.retry})
		return r
	})
}

func (r *running) add(p *one) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[p] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, p)
	}
}

// retry is the Retry of a [status.Section].
func (r *running) retry(ctx context.Context, name string) *status.Retried {
	found := r.named(name)
	if len(found) == 0 {
		return nil
	}
	result := &status.Retried{Done: true}
	for _, p := range found {
		tried := make(chan struct{})
		p.retry(func() { close(tried) })
		select {
		case <-tried:
		case <-ctx.Done():
			result.Done = false
		}
		result.Held += p.read().Held
	}
	return result
}

func (r *running) named(name string) (found []*one) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.all {
		if p.read().Name == name {
			found = append(found, p)
		}
	}
	return found
}

// section is the Read of a [status.Section].
func (r *running) section() (map[string]any, []status.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, problems := []shown{}, []status.Problem(nil)
	for p := range r.all {
		all = append(all, p.read())
	}
	slices.SortFunc(all, func(a, b shown) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range all {
		does := "fails"
		if p.Stalled == 0 {
			does = "holds events back"
		}
		if p.Stalled+p.Held > 0 {
			problems = append(problems, status.Problem{Kind: "projection", About: p.Name, Text: fmt.Sprintf("The projection %s %s: %s.", p.Name, does, p.Failure)})
		}
	}
	return map[string]any{"projections": all}, problems
}
