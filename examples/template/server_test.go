package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnOrderThatCannotBeStoredIsRefused(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("PUT /orders/{order}/number", orders(actor.Spawn(testkit.NewSystem(t), numbers(journal.NewMemory()), "numbers")))
	for order, want := range map[string]int{
		"apples":                 http.StatusOK,
		"Äpfel":                  http.StatusOK,
		strings.Repeat("x", 100): http.StatusOK,
		strings.Repeat("x", 101): http.StatusBadRequest,
		"\xff\xfe":               http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/orders/"+url.PathEscape(order)+"/number", nil))
		if w.Code != want {
			t.Errorf("%q: status %d, want %d: %s", order, w.Code, want, w.Body)
		}
	}
}
