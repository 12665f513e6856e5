package placement_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A measuringJournal is a journal in memory that records the sizes of the coordinator's appends. It
// can refuse snapshots.
type measuringJournal struct {
	*journal.Memory
	noSnapshots bool

	mu        sync.Mutex // guards all below
	claims    int
	appends   int
	bytes     int // of payloads
	largest   int // append
	snapshots int // that were refused

	claimTakes time.Duration // how long a claim of the coordinator takes
}

const coordinatorID = "placement/coordinator"

func (m *measuringJournal) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	m.mu.Lock()
	takes := time.Duration(0)
	if id == coordinatorID {
		m.claims++
		takes = m.claimTakes
	}
	m.mu.Unlock()
	time.Sleep(takes) // in virtual time
	return m.Memory.Claim(ctx, id, w, b)
}

func (m *measuringJournal) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	m.mu.Lock()
	for _, r := range reqs {
		if r.ID != coordinatorID {
			continue
		}
		size := 0
		for _, each := range r.Records {
			size += len(each.Payload)
		}
		m.appends, m.bytes, m.largest = m.appends+1, m.bytes+size, max(m.largest, size)
	}
	m.mu.Unlock()
	return m.Memory.Append(ctx, reqs)
}

func (m *measuringJournal) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	if !m.noSnapshots || id != coordinatorID {
		return m.Memory.SaveSnapshot(ctx, id, s)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshots++
	return fmt.Errorf("save: %w", persistence.ErrTooLarge)
}

// measured returns the sizes of the coordinator's appends since the last call.
func (m *measuringJournal) measured() (appends, bytes, largest int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	appends, bytes, largest = m.appends, m.bytes, m.largest
	m.appends, m.bytes, m.largest = 0, 0, 0
	return appends, bytes, largest
}

func (m *measuringJournal) counts() (claims, snapshots int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claims, m.snapshots
}

// A node runs more actors than fit into one message.
func TestANodeTellsTheNextCoordinatorOfHoweverManyActors(t *testing.T) {
	effort.Unraced(t)
	inWorld(t, 3, func(t *testing.T, w *world) {
		const count = 1000 // with the longest labels: two parts
		for i := range count {
			w.submit(w.spec(fmt.Sprintf("%04d/", i) + strings.Repeat("x", 250)).WithConstraints(w.on("n3")))
		}
		settle()
		w.Kill("n1")
		time.Sleep(time.Minute)
		v, err := w.client["n2"].View(t.Context())
		require.NoError(t, err)
		n3, _ := v.Node("n3")
		require.True(t, n3.Ready)
		require.Len(t, n3.Actors, count)
		for _, s := range w.states("n2") {
			require.Contains(t, s, "running n3")
		}
		w.plan.set(func(p *plan) { require.Len(t, p.starts, count, "nothing was started again") })
	})
}

// Specs submitted while a coordinator starts are stored together, and exceed one append; and all of
// them are placed again together.
func TestStatesOfAnySizeTogetherFitIntoTheJournal(t *testing.T) {
	effort.Unraced(t)
	journal := &measuringJournal{Memory: journal.NewMemory()}
	inWorld(t, 4, func(t *testing.T, w *world) {
		const count, size = 50, 128 << 10
		journal.mu.Lock()
		journal.claimTakes = 5 * time.Second // they wait together until the next coordinator has recovered
		journal.mu.Unlock()
		w.Kill("n1")
		time.Sleep(4 * time.Second) // requests before the removal of n1 go to it, and are lost
		var all sync.WaitGroup
		errs, shown := make([]error, count), make([]int, count)
		for i := range count {
			all.Go(func() {
				label := fmt.Sprint("large", i)
				_, errs[i] = within(w, time.Minute, func(ctx context.Context) (any, error) {
					return w.client[fmt.Sprint("n", 2+i%2)].Submit(ctx, slow.Spec(label, slowness{Plan: w.name, Data: make([]byte, size)}).WithConstraints(w.on("n2")).
						WithCrashStrategy(placement.WaitForReturn(time.Second)))
				})
				e, err := w.client["n3"].Explain(t.Context(), label)
				errs[i], shown[i] = errors.Join(errs[i], err), len(e.Status.Spec.State)
			})
		}
		all.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Greater(t, slices.Min(shown), size)
		settle()
		appends, bytes, largest := journal.measured()
		t.Logf("%d appends of %d bytes, the largest of %d", appends, bytes, largest)
		require.Greater(t, bytes, count*size)
		require.Less(t, bytes, count*(size+4096), "each state is stored once")
		require.Less(t, largest, 5<<20)
		require.Greater(t, largest, 2<<20, "they were stored together")

		w.Kill("n2")
		time.Sleep(time.Minute)
		appends, bytes, largest = journal.measured()
		t.Logf("%d appends of %d bytes, the largest of %d", appends, bytes, largest)
		require.Less(t, bytes, count*2048, "no state is stored again")
		require.GreaterOrEqual(t, appends, 1)
		w.join(w.Add("n2", profile))
		time.Sleep(time.Minute)
		states := w.states("n3")
		require.Len(t, states, count)
		for _, s := range states {
			require.Contains(t, s, "running n2")
		}
	}, func(cfg *setup) {
		cfg.Journal = journal
	})
}

func TestASubmissionThatTheJournalRefusesFailsAlone(t *testing.T) {
	journal := newMoodyJournal()
	counted := &claimCounter{Journal: journal}
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("one"))
		journal.set(10_000, "", nil)
		before := counted.claims()
		for _, through := range []string{"n1", "n2"} {
			took, err := w.submitWithin(through, 20*time.Second, slow.Spec("large", slowness{Plan: w.name, Data: make([]byte, 20_000)}))
			require.ErrorIs(t, err, placement.ErrInvalid)
			require.ErrorContains(t, err, persistence.ErrTooLarge.Error())
			require.Less(t, took, time.Second)
			w.submit(w.spec("after through " + through))
		}
		settle()
		require.Equal(t, before, counted.claims(), "the coordinator goes on")
		states := w.states("n2")
		require.Len(t, states, 3)
		for _, s := range states {
			require.Contains(t, s, string(placement.Running))
		}
		require.NotContains(t, strings.Join(states, " "), "large")
		w.submit(w.spec("large"))
		require.Equal(t, 1, w.add("n3", "large").Sum)
	}, func(cfg *setup) { cfg.Journal = counted })
}

// A claimCounter counts the claims of the coordinator.
type claimCounter struct {
	persistence.Journal
	mu sync.Mutex // guards n
	n  int
}

func (c *claimCounter) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	c.mu.Lock()
	if id == coordinatorID {
		c.n++
	}
	c.mu.Unlock()
	return c.Journal.Claim(ctx, id, w, b)
}

func (c *claimCounter) claims() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// A snapshot of all specs may be too large for a journal. The facts are then enough.
func TestACoordinatorWithoutSnapshotsGoesOnFromTheFacts(t *testing.T) {
	effort.Unraced(t)
	journal := &measuringJournal{Memory: journal.NewMemory(), noSnapshots: true}
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.spec("first").WithConstraints(w.on("n2")))
		for range 700 {
			w.submit(w.spec("passing").WithConstraints(w.on("n1")))
			require.NoError(t, w.client["n1"].Remove(t.Context(), "passing"))
		}
		settle()
		claims, refused := journal.counts()
		require.Equal(t, 1, claims, "the coordinator goes on")
		require.Positive(t, refused)
		w.Kill("n1")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"first running n2"}, w.states("n2"))
		require.Equal(t, 1, w.add("n2", "first").Sum)
	}, func(cfg *setup) { cfg.Journal = journal })
}
