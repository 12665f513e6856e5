package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// The source stores a singleton by a late call, and a spec has got the label meanwhile. The journal
// has one record for a label, and the spec's must stay.
func TestASingletonOfTheSourceDoesNotTakeTheEntryOfASpecInTheJournal(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.refuse = failing(OpPutSpec)
	r.failedWith(r.start("x", Leader()), ErrSource) // it has a term
	r.refuse = nil
	r.source.specs["x"] = singleOf("x", Leader()) // and now it is kept after all
	to := r.ask(func(t hosting.Token) Input { return Submit{Token: t, Spec: Spec{Label: "x", Type: "kept"}} })
	require.Contains(t, r.answers, to)
	require.NoError(t, r.answers[to].Err)
	require.Equal(t, "kept", r.journal["x"].Spec.Type)
	for range 2 {
		r.boot()
		r.pass(time.Minute)
		require.Equal(t, "kept", r.journal["x"].Spec.Type, "the spec is lost")
		require.Len(t, r.m.Statuses(), 1)
	}
}
