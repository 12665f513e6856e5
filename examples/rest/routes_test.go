package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// post sends a payment to a handler.
func post(t *testing.T, h http.Handler, key, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/payments", strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func balance(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/balance", nil))
	require.Equal(t, http.StatusOK, w.Code)
	return strings.TrimSpace(w.Body.String())
}

func TestAPaymentIsMadeOnceForItsKey(t *testing.T) {
	store := journal.NewMemory()
	for range 2 { // the second time from the journal
		system := testkit.NewSystem(t)
		h := routes(actor.Spawn(system, fund(store), "fund"), time.Second)
		for range 2 {
			w := post(t, h, "a", `{"cents": 250}`)
			require.Equal(t, http.StatusCreated, w.Code)
			require.JSONEq(t, `{"key": "a", "cents": 250, "left": 999750}`, w.Body.String())
		}
		w := post(t, h, "a", `{"cents": 251}`)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code)
		require.Equal(t, "999750", balance(t, h))
		require.NoError(t, system.Shutdown(t.Context()))
	}
	made, err := payments(t.Context(), store)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 1}, made)
}

func TestMoreThanIsLeftIsRefused(t *testing.T) {
	h := routes(actor.Spawn(testkit.NewSystem(t), fund(journal.NewMemory()), "fund"), time.Second)
	for i := range 15 {
		require.Equal(t, http.StatusCreated, post(t, h, strconv.Itoa(i), `{"cents": 65535}`).Code)
	}
	w := post(t, h, "more", `{"cents": 65535}`)
	require.Equal(t, http.StatusConflict, w.Code)
	require.Empty(t, w.Header().Get("Retry-After"))
	require.Equal(t, "16975", balance(t, h))
}

func TestARequestThatIsNoPaymentIsRefused(t *testing.T) {
	h := routes(actor.Spawn(testkit.NewSystem(t), fund(journal.NewMemory()), "fund"), time.Second)
	for _, c := range []struct{ key, body string }{
		{"", `{"cents": 1}`},
		{strings.Repeat("x", 101), `{"cents": 1}`},
		{"\xff", `{"cents": 1}`},
		{"a", `{"cents": 0}`},
		{"a", `{"cents": -1}`},
		{"a", `{"cents": "many"}`},
		{"a", `{"cent": 1}`},
		{"a", ""},
	} {
		require.Equal(t, http.StatusBadRequest, post(t, h, c.key, c.body).Code, "%q %q", c.key, c.body)
	}
	require.Equal(t, "1000000", balance(t, h))
}
