package statuspage

import (
	"context"
	"net/http"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// ActionHeader must be in every request that changes something, with any value. A form on a page of
// another site cannot set it.
const ActionHeader = "Understudy-Action"

// Actions are the changes that a page may request.
type Actions struct {
	// Authorize returns nil if the request is allowed. Otherwise the caller receives the error.
	Authorize func(*http.Request) error
	// Down downs the member with this name. It returns an error for an unknown name.
	Down func(member string) error
	// FoundWithout lets a cluster be founded without the nodes at some addresses. It returns an
	// error if it refuses the addresses.
	FoundWithout func(addresses []string) error
	// Leave begins the orderly end of this node.
	Leave func()
	// Resend sends a message again that the node has put aside, and Discard forgets it. They return
	// an error for an unknown number.
	Resend, Discard func(number uint64) error
	// ResendLetter and DiscardLetter do so with the message of a dead letter.
	ResendLetter  func(number uint64) (Resent, error)
	DiscardLetter func(number uint64) error
	// Retry lets a projection of this node try again the events that it holds back. It returns the
	// outcome, at the latest when ctx ends, and an error for an unknown name.
	Retry func(ctx context.Context, projection string) (Retried, error)
	// Runs are those of [Options].
	Runs func() status.Runs
}

// A Retried says what has become of the events that a projection has held back. The JSON names of
// its fields are a stable interface; docs/status.md describes them.
type Retried struct {
	Projection string `json:"projection"`
	Done       bool   `json:"done"` // false: it goes on
	Held       int    `json:"held"` // persistence ids that are still held back
}

// retryPatience is how long the answer to a retry waits for the outcome.
const retryPatience = 2 * time.Second

func (a *Actions) retry(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("projection")
	if name == "" {
		http.Error(w, "name the projection that is to try again: ?projection=NAME", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), retryPatience)
	defer cancel()
	outcome, err := a.Retry(ctx, name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	answerWith(w, http.StatusAccepted, outcome)
}

// The request must not come from a page of another origin, must have ActionHeader, and Authorize
// must allow it.
func (a *Actions) guard(act http.HandlerFunc) http.HandlerFunc {
	origin := http.NewCrossOriginProtection()
	return func(w http.ResponseWriter, r *http.Request) {
		if err := origin.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if r.Header.Get(ActionHeader) == "" {
			http.Error(w, "set the header "+ActionHeader+" to any value", http.StatusForbidden)
			return
		}
		if err := a.Authorize(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		act(w, r)
	}
}

func (a *Actions) down(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("member")
	if name == "" {
		http.Error(w, "name the member to down: ?member=NAME", http.StatusBadRequest)
		return
	}
	if err := a.Down(name); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (a *Actions) foundWithout(w http.ResponseWriter, r *http.Request) {
	addresses := r.URL.Query()["address"]
	if len(addresses) == 0 {
		http.Error(w, "say whose answers are not waited for: ?address=HOST:PORT, once for each", http.StatusBadRequest)
		return
	}
	if err := a.FoundWithout(addresses); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (a *Actions) leave(w http.ResponseWriter, _ *http.Request) {
	a.Leave()
	w.WriteHeader(http.StatusAccepted)
}

type actionable struct{ Source }

func (a actionable) Snapshot() (Snapshot, <-chan struct{}) {
	s, changed := a.Source.Snapshot()
	s.Actions = true
	return s, changed
}
