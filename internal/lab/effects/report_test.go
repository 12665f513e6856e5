package effects

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// A ledgered is a sink whose ledger a test can read.
type ledgered struct {
	*sink
	t *testing.T
}

func newLedgered(t *testing.T) ledgered {
	t.Helper()
	db, err := openLedger(filepath.Join(t.TempDir(), "ledger.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s, err := newSink(db)
	require.NoError(t, err)
	return ledgered{s, t}
}

// post sends the request of an effect of run-0, and returns the answer.
func (l ledgered) post(i int, token uint64) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/effects/run-0/"+strconv.Itoa(i), http.NoBody)
	r.Header.Set(outside.KeyHeader, "effects/run-0/"+strconv.Itoa(i))
	r.Header.Set(outside.ScopeHeader, theRun.scope())
	r.Header.Set(outside.TokenHeader, strconv.FormatUint(token, 10))
	r.Header.Set(nodeHeader, "node-1")
	w := httptest.NewRecorder()
	l.handler().ServeHTTP(w, r)
	return w
}

// plant writes an effect past package outside.
func (l ledgered) plant(i int, token uint64) {
	l.t.Helper()
	_, err := write(l.t.Context(), l.db, "effect", outside.Caller{Key: "effects/run-0/" + strconv.Itoa(i), Scope: theRun.scope(), Token: token}, "node-2")
	require.NoError(l.t, err)
}

func (l ledgered) read() tally {
	l.t.Helper()
	all, err := readLedger(l.t.Context(), l.db)
	require.NoError(l.t, err)
	return all
}

// theRun has three effects.
var theRun = job{Job{Effects: 3}, "run-0"}

// verdictOf compares a ledger with a run that has seen the first three effects.
func verdictOf(ledger tally) error {
	return compare([]job{theRun}, []int64{1 + 2 + 3}, ledger, history{}).verdict()
}

func TestTheSinkMakesEachEffectOnceAndNoneForAProcessThatWasReplaced(t *testing.T) {
	l := newLedgered(t)
	for i := range 3 {
		require.Equal(t, strconv.Itoa(i+1), l.post(i, uint64(i+1)).Body.String())
	}
	again := l.post(1, 3)
	require.Equal(t, "2", again.Body.String())
	require.Equal(t, http.StatusPreconditionFailed, l.post(3, 2).Code)
	require.Equal(t, http.StatusUnprocessableEntity, func() int {
		r := httptest.NewRequest(http.MethodPost, "/effects/run-0/other", http.NoBody)
		r.Header.Set(outside.KeyHeader, "effects/run-0/1")
		r.Header.Set(outside.ScopeHeader, theRun.scope())
		r.Header.Set(outside.TokenHeader, "3")
		w := httptest.NewRecorder()
		l.handler().ServeHTTP(w, r)
		return w.Code
	}())

	all := l.read()
	require.NoError(t, verdictOf(all))
	require.Equal(t, map[string]int{"again": 1, "replaced": 1, "422": 1}, all.others)
}

func TestASecondEffectOfAKeyIsFound(t *testing.T) {
	l := newLedgered(t)
	for i := range 3 {
		l.post(i, 1)
	}
	l.plant(1, 1)
	all := l.read()
	require.Equal(t, []string{"effects/run-0/1 has 2 effects"}, all.twice)
	require.ErrorContains(t, verdictOf(all), "an effect was made more than once: effects/run-0/1 has 2 effects")
}

func TestAnEffectOfAProcessThatWasReplacedIsFound(t *testing.T) {
	for name, successor := range map[string]func(ledgered){
		"after an effect of its successor":        func(l ledgered) { l.post(1, 3) },
		"after a stored answer for its successor": func(l ledgered) { l.post(0, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedgered(t)
			l.post(0, 1)
			successor(l)
			l.plant(2, 1)
			all := l.read()
			require.Equal(t, []string{"effects/run-0/2 by node-2 with token 1 after 3"}, all.late)
			require.ErrorContains(t, verdictOf(all), "a process that was replaced has made an effect: effects/run-0/2 by node-2 with token 1 after 3")
		})
	}
}

func TestTokensOfDifferentRunsAreNotCompared(t *testing.T) {
	l := newLedgered(t)
	l.post(0, 7)
	_, err := write(t.Context(), l.db, "effect", outside.Caller{Key: "effects/run-1/0", Scope: "effects|run-1", Token: 1}, "node-2")
	require.NoError(t, err)
	require.Empty(t, l.read().late)
}

func TestAnEffectThatIsMissingOrThatNoRunHasSeenIsFound(t *testing.T) {
	l := newLedgered(t)
	l.post(0, 1)
	l.post(1, 1)
	require.ErrorContains(t, verdictOf(l.read()), "the run run-0 has 2 effects with the sum 3 in the ledger, and has seen 3 with the sum 6")
	l.post(2, 1)
	require.NoError(t, verdictOf(l.read()))
	_, err := write(t.Context(), l.db, "effect", outside.Caller{Key: "effects/run-1/0", Scope: "effects|run-1", Token: 1}, "node-2")
	require.NoError(t, err)
	require.ErrorContains(t, verdictOf(l.read()), "the ledger has effects of 2 runs, and there were 1")
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "empty.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = readLedger(context.Background(), db)
	require.Error(t, err)
}

func TestEachStepHasOneOutcomeAndEachRunIsDone(t *testing.T) {
	begun, ended := fact{What: "begun"}, fact{What: "ended", State: "done"}
	step := func(name string) fact { return fact{What: "finished", Name: name} }
	for name, test := range map[string]struct {
		facts []fact
		wrong []string
	}{
		"done":     {[]fact{begun, step("a"), step("b"), {What: "failed", Name: "c"}, step("c"), ended}, nil},
		"twice":    {[]fact{begun, step("a"), step("b"), step("c"), step("b"), ended}, []string{"run-0 has 2 outcomes of b"}},
		"missing":  {[]fact{begun, step("a"), step("b"), ended}, []string{"run-0 has outcomes of 2 steps, and not of 3"}},
		"not over": {[]fact{begun, step("a"), step("b"), step("c")}, []string{"run-0 has not ended once, as done"}},
		"failed":   {[]fact{begun, step("a"), step("b"), step("c"), {What: "ended", State: "failed"}}, []string{"run-0 has not ended once, as done"}},
		"two ends": {[]fact{begun, step("a"), step("b"), step("c"), ended, ended}, []string{"run-0 has not ended once, as done"}},
		"lost":     {nil, []string{"run-0 has outcomes of 0 steps, and not of 3", "run-0 has not ended once, as done"}},
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			h.add(theRun, test.facts)
			require.Equal(t, test.wrong, h.wrong)
		})
	}
}

func TestAPlanHasAllEffects(t *testing.T) {
	for _, n := range []int{1, effectsOfRun, 1003} {
		sum, slow := 0, 0
		for _, j := range (settings{effects: n, seed: 5}).plan() {
			sum += j.Effects
			if j.Slow > 0 {
				slow++
			}
			require.LessOrEqual(t, j.Slow, slowest)
		}
		require.Equal(t, n, sum)
		require.Equal(t, n > 1000, slow > 0)
	}
}
