//go:build linux

package main

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// byHeader has the name of the execution that makes a call.
const byHeader = "Execution"

// One in lost answers of the agency says that it was not available, although the effect is there.
const lost = 20

// An Effect is something that the agency has done. Its number is its place among all, from 1.
type Effect struct {
	Key   string // of the step
	Scope string // of the token
	Token uint64
	By    string // the execution
}

// An agency is outside of the cluster, in the process of the harness. Trips call it in their steps.
// A repetition gets the first answer, and a process that was replaced is refused: package outside
// takes care of that.
type agency struct {
	server *http.Server
	once   http.Handler

	mu       sync.Mutex // guards the following
	effects  []Effect
	accepted []Effect // the calls that were answered, also those that were repetitions
	calls    int
	repeated int // got the first answer
	refused  int // came from processes that were replaced
}

func newAgency() *agency {
	a := &agency{}
	a.once = outside.Handler(outside.NewMemory(), http.HandlerFunc(a.act), outside.Require())
	return a
}

// openAgency serves an agency at its socket in a directory.
func openAgency(dir string) (*agency, error) {
	l, err := net.Listen("unix", agencySocket(dir))
	if err != nil {
		return nil, err
	}
	a := newAgency()
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	go func() { _ = a.server.Serve(l) }() // until it is closed
	return a, nil
}

func agencySocket(dir string) string { return filepath.Join(dir, "agency.sock") }

func (a *agency) close() error { return a.server.Close() }

// ServeHTTP implements [http.Handler]. The answer comes some time after the effect, so that a
// process may die in between.
func (a *agency) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &heldAnswer{header: http.Header{}}
	a.note(answer, r)
	time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	if rand.IntN(lost) == 0 {
		http.Error(w, "the answer is lost", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) // the caller asks again
}

// note handles one call at a time, so the order of the effects is the one in which they happened.
func (a *agency) note(answer *heldAnswer, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	a.once.ServeHTTP(answer, r)
	if answer.status == http.StatusPreconditionFailed {
		a.refused++
		return
	}
	token, _ := strconv.ParseUint(r.Header.Get(outside.TokenHeader), 10, 64) // the Handler refuses it otherwise
	a.accepted = append(a.accepted, Effect{Key: r.Header.Get(outside.KeyHeader), Scope: r.Header.Get(outside.ScopeHeader), Token: token, By: r.Header.Get(byHeader)})
	if answer.header.Get(outside.ReplayedHeader) != "" {
		a.repeated++
	}
}

// act has an effect, and answers with its number. The caller holds mu.
func (a *agency) act(w http.ResponseWriter, r *http.Request) {
	c := outside.CallerOf(r.Context())
	a.effects = append(a.effects, Effect{Key: c.Key, Scope: c.Scope, Token: c.Token, By: r.Header.Get(byHeader)})
	_ = json.NewEncoder(w).Encode(len(a.effects)) // in memory
}

// done returns all effects up to now, and the calls that were accepted.
func (a *agency) done() (effects, accepted []Effect) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.effects), slices.Clone(a.accepted)
}

// A heldAnswer is an answer that is not sent yet.
type heldAnswer struct {
	header http.Header
	status int
	body   []byte
}

func (h *heldAnswer) Header() http.Header { return h.header }

func (h *heldAnswer) WriteHeader(status int) { h.status = status }

func (h *heldAnswer) Write(p []byte) (int, error) {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	h.body = append(h.body, p...)
	return len(p), nil
}
