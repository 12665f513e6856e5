package outside

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
)

// ReplayedHeader is "true" in answers that were stored for an earlier request.
const ReplayedHeader = "Idempotent-Replayed"

// An Option is an option of [Handler].
type Option func(*handler)

// Require refuses requests without the headers with 400. By default they go to next, whatever
// they ask for. Requests that only read are never refused.
func Require() Option { return func(h *handler) { h.required = true } }

// Handler lets next handle each request of a step once. It reads the headers that [Transport]
// sets; a key alone, and a scope with its token alone, are of use as well.
//
//   - A repetition gets the first answer, with its status, header and body, and [ReplayedHeader].
//     So does one that comes while the first request is being handled; it waits for that.
//   - 412: another process has taken the run over.
//   - 409: the request has ended while it waited.
//   - 422: the key was used for another method or URI, see [ErrKeyUsed].
//   - 400: the headers are wrong. 503: the store has failed; a repetition may succeed.
//
// An answer with a status of 500 or more, or with 408, 425 or 429, is not stored, so that next
// handles a repetition anew. All others are, so check credentials before the Handler. An answer
// is in memory until it is stored: next can neither flush nor hijack. Requests that only read go
// to next as they are.
func Handler(s Store, next http.Handler, opts ...Option) http.Handler {
	if s == nil || next == nil {
		panic("outside: Handler needs a store and a handler")
	}
	h := &handler{store: s, next: next}
	for _, option := range opts {
		option(h)
	}
	return h
}

type handler struct {
	store    Store
	next     http.Handler
	required bool
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := callerIn(r.Header)
	complete := c.Key != "" && c.Scope != ""
	switch {
	case reads(r.Method):
		h.next.ServeHTTP(w, r)
	case err != nil:
		http.Error(w, "outside: "+err.Error(), http.StatusBadRequest)
	case h.required && !complete:
		http.Error(w, "outside: the request needs the headers "+KeyHeader+", "+ScopeHeader+" and "+TokenHeader, http.StatusBadRequest)
	case c == (Caller{}):
		h.next.ServeHTTP(w, r)
	default:
		h.once(w, r, c)
	}
}

func (h *handler) once(w http.ResponseWriter, r *http.Request, c Caller) {
	handled := false
	answer, err := h.store.Once(r.Context(), Call{c, strings.ToValidUTF8(r.Method+" "+r.URL.RequestURI(), "?")}, func(ctx context.Context) Answer {
		handled = true
		rec := &recorder{header: http.Header{}}
		h.next.ServeHTTP(rec, r.WithContext(context.WithValue(ctx, callerKey{}, c)))
		return rec.answer()
	})
	if err != nil {
		http.Error(w, err.Error(), statusOf(r.Context(), err))
		return
	}
	maps.Copy(w.Header(), answer.Header)
	if !handled {
		w.Header().Set(ReplayedHeader, "true")
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // a caller that is gone asks again
}

func statusOf(ctx context.Context, err error) int {
	switch {
	case errors.Is(err, ErrReplaced):
		return http.StatusPreconditionFailed
	case errors.Is(err, ErrKeyUsed):
		return http.StatusUnprocessableEntity
	case ctx.Err() != nil:
		return http.StatusConflict
	}
	return http.StatusServiceUnavailable
}

// A recorder keeps an answer.
type recorder struct {
	header, sent http.Header // sent is what header was when the status was written
	status       int
	body         bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status, r.sent = status, r.header.Clone()
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) answer() Answer {
	r.WriteHeader(http.StatusOK)
	return Answer{Status: r.status, Header: r.sent, Body: r.body.Bytes()}
}
