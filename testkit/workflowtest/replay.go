package workflowtest

import (
	"context"
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

// Replay runs each run of a type that is in a journal with f, up to the first step that is not
// stored, which does not run. It fails t for each run that would be held, or that has outcomes for
// which f does not ask. It returns how many runs it has looked at. j is only read, so it may be the
// journal of a production, or a copy of it; it must be a [journal.EventReader].
//
// Call it in a bubble of testing/synctest, unless j blocks, as those in databases do.
func Replay[I, O any](t testing.TB, j persistence.Journal, name string, f func(w *workflow.Run, input I) (O, error)) (runs int) {
	t.Helper()
	copied, ids := copyRuns(t, j, name)
	system := testkit.NewSystem(t, persistence.WithJournal(copied), replace(func(_, _, _ string) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) }
	}))
	typ, err := workflow.Start(system, name, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		at := settled(t, typ, id)
		if at.State == workflow.Held {
			t.Errorf("run %s of type %s would be held: %s", id, name, at.Error)
		}
		if len(at.Unasked) > 0 {
			t.Errorf("run %s of type %s does not ask for outcomes that are stored: %q", id, name, at.Unasked)
		}
	}
	return len(ids)
}

// settled returns what a run does once it has replayed what is stored.
func settled[I, O any](t testing.TB, typ *workflow.Type[I, O], id string) (at workflow.Status) {
	t.Helper()
	for range 1000 {
		var err error
		if at, err = typ.Look(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if at.State != workflow.Running || len(at.Steps) > 0 {
			return at
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("run %s of type %s does not come to its first step that is not stored: %+v", id, typ.Name(), at)
	return at
}

// copyRuns copies the runs of a type to a journal in memory.
func copyRuns(t testing.TB, j persistence.Journal, name string) (copied *journal.Memory, ids []string) {
	t.Helper()
	reader, ok := journal.As[journal.EventReader](j)
	if !ok {
		t.Fatalf("the journal %T cannot be read across ids", j)
	}
	copied = journal.NewMemory()
	seen := map[string]bool{}
	for entry, err := range reader.Events(t.Context(), journal.Query{Tag: workflow.TagOf(name)}, "") {
		if err != nil {
			t.Fatal(err)
		}
		_, id, ok := sharding.ParsePersistenceID(entry.ID)
		if !ok || seen[id] || entry.Forgotten() {
			continue
		}
		seen[id], ids = true, append(ids, id)
		copyOf(t, j, copied, entry.ID)
	}
	return copied, ids
}

func copyOf(t testing.TB, from persistence.Journal, to *journal.Memory, id string) {
	t.Helper()
	claim, err := to.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	req := journal.AppendRequest{ID: id, Epoch: claim.Epoch}
	for r, err := range from.Read(t.Context(), id, 1, 1<<62) {
		if err != nil {
			t.Fatal(err)
		}
		r.Epoch = claim.Epoch
		req.Records = append(req.Records, r)
	}
	if err := to.Append(t.Context(), []journal.AppendRequest{req})[0]; err != nil {
		t.Fatal(err)
	}
}
