package outside_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/receivers"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
	"github.com/understudy-go/understudy/testkit"
)

func TestMemoryObeysTheLawsOfStores(t *testing.T) {
	receivers.Stores(t, func(*testing.T) outside.Store { return outside.NewMemory() })
}

// inStep calls f with the context of a step of the run with that id.
func inStep(t *testing.T, id string, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, persistence.WithJournal(journal.NewMemory()))
		steps, leave := make(chan context.Context), make(chan struct{})
		orders, err := workflow.Start(s, "order", func(w *workflow.Run, _ string) (string, error) {
			return "", workflow.Do(w, "charge", func(ctx context.Context) error { steps <- ctx; <-leave; return nil })
		})
		require.NoError(t, err)
		_, err = orders.Run(t.Context(), id, "")
		require.NoError(t, err)
		ctx := <-steps
		defer close(leave)
		f(t, ctx)
	})
}

// base answers requests without a network.
type base struct{ h http.Handler }

func (b base) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestTheTransportSaysWhoCalls(t *testing.T) {
	inStep(t, "47 %ü", func(t *testing.T, ctx context.Context) {
		var seen []http.Header
		var behind []outside.Caller
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen, behind = append(seen, r.Header), append(behind, outside.CallerOf(r.Context()))
		})
		client := &http.Client{Transport: outside.Transport{Base: base{outside.Handler(outside.NewMemory(), next)}}}
		do := func(ctx context.Context, method string, header http.Header) {
			r, err := http.NewRequestWithContext(ctx, method, "http://pay.example/charge", http.NoBody)
			require.NoError(t, err)
			r.Header = header
			res, err := client.Do(r)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode)
		}
		do(ctx, http.MethodPost, http.Header{})
		require.Equal(t, "order/47%20%2525%C3%BC/charge", seen[0].Get(outside.KeyHeader))
		require.Equal(t, "order|47%20%25%C3%BC", seen[0].Get(outside.ScopeHeader))
		token := workflow.Token(ctx)
		require.Equal(t, strconv.FormatUint(token, 10), seen[0].Get(outside.TokenHeader))
		require.Equal(t, outside.Caller{Key: "order/47 %25ü/charge", Scope: "order|47 %ü", Token: token}, outside.CallerOf(ctx))
		require.Equal(t, outside.CallerOf(ctx), behind[0])

		second := http.Header{outside.KeyHeader: {"mine"}}
		do(ctx, http.MethodPost, second)
		require.Equal(t, "mine", seen[1].Get(outside.KeyHeader))
		require.Equal(t, seen[0].Get(outside.TokenHeader), seen[1].Get(outside.TokenHeader))
		require.Len(t, second, 1, "the header of the caller stays as it is")

		do(ctx, http.MethodGet, http.Header{})
		do(t.Context(), http.MethodPost, http.Header{}) //nolint:contextcheck // another than that of the step
		for _, h := range seen[2:] {
			require.Empty(t, h.Get(outside.KeyHeader)+h.Get(outside.ScopeHeader)+h.Get(outside.TokenHeader))
		}
		require.Len(t, seen, 4)
	})
}

func TestHeadersThatAreWrongAreRefused(t *testing.T) {
	called := 0
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called++ })
	h := outside.Handler(outside.NewMemory(), next)
	for _, header := range []http.Header{
		{"Fencing-Token": {"1"}},
		{"Fencing-Scope": {"a"}},
		{"Fencing-Scope": {"a"}, "Fencing-Token": {"0"}},
		{"Fencing-Scope": {"a"}, "Fencing-Token": {"-1"}},
		{"Fencing-Scope": {"a"}, "Fencing-Token": {"9223372036854775808"}},
		{"Fencing-Scope": {"a"}, "Fencing-Token": {"1", "2"}},
		{"Idempotency-Key": {"a", "b"}},
		{"Idempotency-Key": {"\xff"}},
		{"Idempotency-Key": {"%ff"}},
		{"Idempotency-Key": {"%00"}},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		r.Header = header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code, "%v", header)
		require.Contains(t, w.Body.String(), "outside: ")
	}
	require.Zero(t, called)
}

func TestRequestsWithoutHeadersPassUnlessTheyAreRequired(t *testing.T) {
	called := 0
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called++
		if outside.CallerOf(r.Context()) != (outside.Caller{}) || outside.TxOf(r.Context()) != nil {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	status := func(h http.Handler, method string, key string) int {
		r := httptest.NewRequest(method, "/", http.NoBody)
		if key != "" {
			r.Header.Set(outside.KeyHeader, key)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	open := outside.Handler(outside.NewMemory(), next)
	require.Equal(t, http.StatusOK, status(open, http.MethodPost, ""))
	require.Equal(t, http.StatusOK, status(open, http.MethodPost, ""))
	strict := outside.Handler(outside.NewMemory(), next, outside.Require())
	require.Equal(t, http.StatusBadRequest, status(strict, http.MethodPost, ""))
	require.Equal(t, http.StatusBadRequest, status(strict, http.MethodPost, "a"))
	require.Equal(t, http.StatusOK, status(strict, http.MethodGet, ""))
	require.Equal(t, 3, called)
}

func TestAHandlerWithoutAStoreIsAMistake(t *testing.T) {
	require.Panics(t, func() { outside.Handler(nil, http.NotFoundHandler()) })
	require.Panics(t, func() { outside.Handler(outside.NewMemory(), nil) })
	require.Panics(t, func() { outside.NewSQL(nil) })
}
