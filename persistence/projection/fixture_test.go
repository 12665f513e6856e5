package projection_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit"
)

type (
	event    interface{ event() }
	added    struct{ N int }
	poisoned struct{}
	named    struct{ Name string }
	foreign  struct{}
)

func (added) event()    {}
func (poisoned) event() {}
func (named) event()    {}

func init() {
	actor.RegisterType[added]("projection_test.added")
	actor.RegisterType[poisoned]("projection_test.poisoned")
	actor.RegisterType[named]("projection_test.named")
	actor.RegisterType[foreign]("projection_test.foreign")
}

type writer struct {
	t     testing.TB
	j     persistence.Journal
	id    string
	claim journal.Claim
	tags  []string
}

func newWriter(t testing.TB, j persistence.Journal, id string, tags ...string) *writer {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	return &writer{t, j, id, claim, tags}
}

func (w *writer) append(events ...any) {
	w.t.Helper()
	req := journal.AppendRequest{ID: w.id, Epoch: w.claim.Epoch, Prev: w.claim.LastSeq}
	for _, e := range events {
		w.claim.LastSeq++
		r := journal.Record{Seq: w.claim.LastSeq, Epoch: w.claim.Epoch, Time: time.Now().UTC(), Type: "projection_test.nobody", Tags: w.tags}
		if e != nil {
			p, err := extension.Pack(e)
			require.NoError(w.t, err)
			r.Type, r.Payload = p.Type, p.Data
		}
		req.Records = append(req.Records, r)
	}
	require.NoError(w.t, w.j.Append(w.t.Context(), []journal.AppendRequest{req})[0])
}

// A sum is the read model of these tests: for each id, the sum of the added numbers.
type sum struct {
	mu    sync.Mutex
	byID  map[string]int
	order []string // the events, as "id/seq"
	fail  func(projection.Event[event]) error
}

func newSum() *sum { return &sum{byID: map[string]int{}} }

func (s *sum) handle(_ context.Context, e projection.Event[event]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(e); err != nil {
			return err
		}
	}
	if a, ok := e.Event.(added); ok {
		s.byID[e.ID] += a.N
	}
	s.order = append(s.order, fmt.Sprint(e.ID, "/", e.Seq))
	return nil
}

func (s *sum) handled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.order...)
}

func (s *sum) failWith(f func(projection.Event[event]) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = f
}

// poison fails at poisoned events.
func poison(e projection.Event[event]) error {
	if _, ok := e.Event.(poisoned); ok {
		return fmt.Errorf("this is poison")
	}
	return nil
}

func catchUp(t testing.TB, ref actor.ActorRef[projection.Command]) projection.Status {
	t.Helper()
	return testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} })
}

func status(t testing.TB, ref actor.ActorRef[projection.Command]) projection.Status {
	t.Helper()
	return testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.GetStatus{ReplyTo: r} })
}
