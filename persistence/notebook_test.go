package persistence_test

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// The durable actor of these tests is a page of a notebook. Its commands are functions.
type (
	page        struct{ Text string }
	order       func(ctx *actor.Context[order], state persistence.State[page]) persistence.StateEffect[page]
	pageOptions = persistence.StateOptions[order, page]
)

func init() { actor.RegisterType[page]("persistence_test.page") }

func notebook(j persistence.Journal, opts ...pageOptions) actor.Behavior[order] {
	return behaviors.DurableState("page-1", presented(j), page{"blank"}, func(ctx *actor.Context[order], s persistence.State[page], cmd order) persistence.StateEffect[page] {
		return cmd(ctx, s)
	}, opts...)
}

func writePage(to actor.ActorRef[string], text string) order {
	return func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
		return persistence.ThenReply(persistence.PersistState(page{text}), to, text)
	}
}

func erasePage(to actor.ActorRef[string]) order {
	return func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
		return persistence.ThenReply(persistence.DeleteState[page], to, "erased")
	}
}

func showPage(to actor.ActorRef[string]) order {
	return func(_ *actor.Context[order], s persistence.State[page]) persistence.StateEffect[page] {
		to.Tell(fmt.Sprintf("%d: %s", s.Revision, s.Value.Text))
		return persistence.None
	}
}

func leavePage(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
	return persistence.Stop
}

func (w *world) openPage(opts ...pageOptions) actor.ActorRef[order] {
	return actor.Spawn(w.system, notebook(w.journal, opts...), "")
}

func (w *world) shutPage(ref actor.ActorRef[order]) {
	w.Helper()
	ref.Tell(leavePage)
	w.replies.ExpectTerminated(ref)
}

// watchedPage spawns the page, and returns a probe that receives the reason of its failure.
func (w *world) watchedPage() (actor.ActorRef[order], *testkit.Probe[error]) {
	w.Helper()
	failures := testkit.NewProbe[error](w, w.system)
	b := behaviors.Supervise(notebook(w.journal), actor.Strategy{
		Decide: func(err error) actor.Directive { failures.Ref().Tell(err); return actor.Stop },
	})
	return actor.Spawn(w.system, b, ""), failures
}

func (w *world) pages() (records []journal.Record) {
	w.Helper()
	for r, err := range w.journal.Memory.Read(w.Context(), "page-1", 1, 1<<62) {
		require.NoError(w, err)
		records = append(records, r)
	}
	return records
}
