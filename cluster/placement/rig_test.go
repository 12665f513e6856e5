package placement_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// slowness is what slow actors are made from.
type slowness struct {
	Plan string
	End  time.Duration // it takes them to end
	Only string        // on the node of that name; "" for all
	Data []byte
}

// slow actors take their time to end.
var slow = placement.NewType[slowness, message]("slow")

func newSlow(s slowness) actor.Behavior[message] {
	p := planOf(s.Plan)
	return behaviors.Setup(func(ctx *actor.Context[message]) actor.Behavior[message] {
		address := ctx.System().Address()
		end := p.begin(ctx.System())
		ctx.Defer(func() {
			if s.Only == "" || strings.HasPrefix(address, s.Only+":") {
				time.Sleep(s.End)
			}
			end()
		})
		return behaviors.Receive(func(*actor.Context[message], message) actor.Behavior[message] { return behaviors.Same })
	})
}

// within asks with a deadline.
func within[T any](w *world, d time.Duration, ask func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	return ask(ctx)
}

func (w *world) specsSoon(through string) ([]string, error) {
	specs, err := within(w, 10*time.Second, w.client[through].Specs)
	all := []string{}
	for _, s := range specs {
		all = append(all, fmt.Sprintf("%s %s %s", s.Spec.Label, s.State, s.Node))
	}
	return all, err
}

// submitWithin submits, and returns how long that has taken.
func (w *world) submitWithin(through string, d time.Duration, s placement.Spec) (took time.Duration, err error) {
	began := time.Now()
	_, err = within(w, d, func(ctx context.Context) (placement.Decision, error) { return w.client[through].Submit(ctx, s) })
	return time.Since(began), err
}

// A moodySource is a source of generations that may fail.
type moodySource struct {
	mu    sync.Mutex // guards all below
	terms map[string]uint64
	fails error
}

func (m *moodySource) set(fails error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = fails
}

func (m *moodySource) ClaimTerm(_ context.Context, label, _ string, floor uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return 0, m.fails
	}
	if m.terms == nil {
		m.terms = map[string]uint64{}
	}
	m.terms[label] = max(m.terms[label], floor) + 1
	return m.terms[label], nil
}

// A moodyJournal is a journal in memory that may refuse to store.
type moodyJournal struct {
	persistence.Journal
	mu    sync.Mutex // guards all below
	limit int        // of the payload of a record; 0 for none
	fails error
	of    string // the id that it fails for
}

func newMoodyJournal() *moodyJournal { return &moodyJournal{Journal: journal.NewMemory()} }

func (m *moodyJournal) set(limit int, of string, fails error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.of, m.fails = limit, of, fails
}

func (m *moodyJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]error, len(reqs))
	for i, r := range reqs {
		switch {
		case m.fails != nil && r.ID == m.of:
			out[i] = m.fails
		case m.limit > 0 && m.larger(r):
			out[i] = persistence.ErrTooLarge
		default:
			out[i] = m.Journal.Append(ctx, reqs[i:i+1])[0]
		}
	}
	return out
}

func (m *moodyJournal) larger(r journal.AppendRequest) bool {
	for _, each := range r.Records {
		if len(each.Payload) > m.limit {
			return true
		}
	}
	return false
}
