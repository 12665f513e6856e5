// Package receivers has the laws of what steps of workflows call, for each database and store.
package receivers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// A service notes the keys of its calls.
type service struct {
	mu    sync.Mutex // guards did
	did   []string
	reply func(w http.ResponseWriter, r *http.Request, call int)
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.did = append(s.did, r.Header.Get(outside.KeyHeader))
	n := len(s.did)
	s.mu.Unlock()
	if s.reply != nil {
		s.reply(w, r, n)
		return
	}
	w.Header().Set("Location", fmt.Sprint("/charges/", n))
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, fmt.Sprint("charge ", n))
}

// headers are those of a call.
type headers struct{ key, scope, token string }

func post(h http.Handler, uri string, of headers) *httptest.ResponseRecorder {
	return call(context.Background(), h, http.MethodPost, uri, of)
}

func call(ctx context.Context, h http.Handler, method, uri string, of headers) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, uri, strings.NewReader("body"))
	for name, value := range map[string]string{outside.KeyHeader: of.key, outside.ScopeHeader: of.scope, outside.TokenHeader: of.token} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Stores tests a store of outside.Handler. open returns an empty one.
func Stores(t *testing.T, open func(t *testing.T) outside.Store) {
	laws := map[string]func(t *testing.T, s outside.Store){
		"ARepetitionGetsTheFirstAnswer":           repeats,
		"AReplacedProcessIsRefused":               refusesTheReplaced,
		"AFailureIsNoAnswer":                      forgetsFailures,
		"AFailureStillFences":                     fencesByFailures,
		"APanicLeavesNothing":                     survivesPanics,
		"TwoAtOnceAreOne":                         letsOneWait,
		"OneThatWaitsMayGiveUp":                   letsOneGiveUp,
		"AKeyIsOfOneRequest":                      refusesOtherRequests,
		"AKeyOrATokenAloneIsOfUse":                takesEach,
		"AFirstAnswerMayBeARefusalThatStays":      keepsRefusals,
		"TheAnswerIsWhatWasSentWithTheStatusLine": keepsWhatWasSent,
	}
	for name, law := range laws {
		t.Run(name, func(t *testing.T) { law(t, open(t)) })
	}
}

func repeats(t *testing.T, s outside.Store) {
	svc := &service{}
	h := outside.Handler(s, svc)
	first := post(h, "/charge", headers{"order/1/charge", "order|1", "1"})
	for range 3 {
		again := post(h, "/charge", headers{"order/1/charge", "order|1", "1"})
		require.Equal(t, http.StatusCreated, again.Code)
		require.Equal(t, "charge 1", again.Body.String())
		require.Equal(t, "/charges/1", again.Header().Get("Location"))
		require.Equal(t, "true", again.Header().Get(outside.ReplayedHeader))
	}
	require.Equal(t, "charge 1", first.Body.String())
	require.Empty(t, first.Header().Get(outside.ReplayedHeader))
	require.Equal(t, "charge 1", post(h, "/charge", headers{`"order/1/charge"`, "order|1", "7"}).Body.String(), "a successor, with the quotes of the standard")
	require.Equal(t, "charge 2", post(h, "/charge", headers{"order/2/charge", "order|2", "1"}).Body.String())
}

func refusesTheReplaced(t *testing.T, s outside.Store) {
	svc := &service{}
	h := outside.Handler(s, svc)
	require.Equal(t, http.StatusCreated, post(h, "/charge", headers{"a", "order|1", "9"}).Code)
	require.Equal(t, http.StatusCreated, post(h, "/charge", headers{"b", "order|1", "10"}).Code)
	late := post(h, "/charge", headers{"c", "order|1", "9"})
	require.Equal(t, http.StatusPreconditionFailed, late.Code)
	require.Contains(t, late.Body.String(), "another process has taken the run over: order|1, token 9")
	require.Equal(t, http.StatusPreconditionFailed, post(h, "/charge", headers{"a", "order|1", "9"}).Code, "it is not told what it did before")
	require.Equal(t, http.StatusCreated, post(h, "/charge", headers{"d", "order|2", "1"}).Code)
	require.Equal(t, []string{"a", "b", "d"}, svc.did)
}

func forgetsFailures(t *testing.T, s outside.Store) {
	statuses := []int{500, 503, 429, 408, 425, 204}
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader(statuses[n-1]) }}
	h := outside.Handler(s, svc)
	for _, status := range statuses {
		require.Equal(t, status, post(h, "/charge", headers{"a", "order|1", "1"}).Code)
	}
	require.Equal(t, 204, post(h, "/charge", headers{"a", "order|1", "1"}).Code)
	require.Len(t, svc.did, len(statuses))
}

func fencesByFailures(t *testing.T, s outside.Store) {
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusBadGateway) }}
	h := outside.Handler(s, svc)
	require.Equal(t, http.StatusBadGateway, post(h, "/charge", headers{"a", "order|1", "2"}).Code)
	require.Equal(t, http.StatusPreconditionFailed, post(h, "/charge", headers{"a", "order|1", "1"}).Code)
}

func survivesPanics(t *testing.T, s outside.Store) {
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
	}}
	h := outside.Handler(s, svc)
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { post(h, "/charge", headers{"a", "order|1", "2"}) })
	require.Equal(t, http.StatusPreconditionFailed, post(h, "/charge", headers{"a", "order|1", "1"}).Code)
	require.Equal(t, http.StatusOK, post(h, "/charge", headers{"a", "order|1", "2"}).Code)
}

func letsOneWait(t *testing.T, s outside.Store) {
	entered, leave := make(chan struct{}), make(chan struct{})
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, n int) {
		close(entered) // twice is a panic
		<-leave
		_, _ = fmt.Fprint(w, "charge ", n)
	}}
	h := outside.Handler(s, svc)
	answers := make(chan string)
	for range 2 {
		go func() { answers <- post(h, "/charge", headers{"a", "order|1", "1"}).Body.String() }()
	}
	<-entered
	close(leave)
	require.Equal(t, "charge 1", <-answers)
	require.Equal(t, "charge 1", <-answers)
}

func letsOneGiveUp(t *testing.T, s outside.Store) {
	entered, leave := make(chan struct{}), make(chan struct{})
	svc := &service{reply: func(http.ResponseWriter, *http.Request, int) { close(entered); <-leave }}
	h := outside.Handler(s, svc)
	done := make(chan int)
	go func() { done <- post(h, "/charge", headers{"a", "order|1", "1"}).Code }()
	<-entered
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, http.StatusConflict, call(gone, h, http.MethodPost, "/charge", headers{"a", "order|1", "1"}).Code)
	close(leave)
	require.Equal(t, http.StatusOK, <-done)
}

func refusesOtherRequests(t *testing.T, s outside.Store) {
	h := outside.Handler(s, &service{})
	require.Equal(t, http.StatusCreated, post(h, "/charge?of=1", headers{"a", "order|1", "1"}).Code)
	for _, uri := range []string{"/charge?of=2", "/refund"} {
		w := post(h, uri, headers{"a", "order|1", "1"})
		require.Equal(t, http.StatusUnprocessableEntity, w.Code)
		require.Contains(t, w.Body.String(), "the idempotency key was used for another request: POST /charge?of=1")
	}
	require.Equal(t, http.StatusUnprocessableEntity, call(t.Context(), h, http.MethodPut, "/charge?of=1", headers{"a", "order|1", "1"}).Code)
}

func takesEach(t *testing.T, s outside.Store) {
	svc := &service{}
	h := outside.Handler(s, svc)
	for range 2 {
		require.Equal(t, "charge 1", post(h, "/charge", headers{key: "a"}).Body.String())
	}
	require.Equal(t, "charge 2", post(h, "/charge", headers{"", "order|1", "2"}).Body.String())
	require.Equal(t, "charge 3", post(h, "/charge", headers{"", "order|1", "2"}).Body.String())
	require.Equal(t, http.StatusPreconditionFailed, post(h, "/charge", headers{"", "order|1", "1"}).Code)
}

func keepsRefusals(t *testing.T, s outside.Store) {
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, n int) {
		http.Error(w, fmt.Sprint("no card ", n), http.StatusPaymentRequired)
	}}
	h := outside.Handler(s, svc)
	for range 2 {
		w := post(h, "/charge", headers{"a", "order|1", "1"})
		require.Equal(t, http.StatusPaymentRequired, w.Code)
		require.Equal(t, "no card 1\n", w.Body.String())
	}
}

func keepsWhatWasSent(t *testing.T, s outside.Store) {
	svc := &service{reply: func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header()["X-Two"] = []string{"1", "2"}
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
		w.Header().Set("X-Late", "3")
		w.WriteHeader(http.StatusOK)
	}}
	h := outside.Handler(s, svc)
	for range 2 {
		w := post(h, "/charge", headers{"a", "order|1", "1"})
		require.Equal(t, http.StatusAccepted, w.Code)
		require.Equal(t, []string{"1", "2"}, w.Header()["X-Two"])
		require.Empty(t, w.Header().Get("X-Late"))
		require.Empty(t, w.Body.String())
	}
}
