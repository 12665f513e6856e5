package statuspage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/internal/inspect"
)

// States has what shows the stored states of actors.
type States struct {
	// Authorize returns nil if the request is allowed. Otherwise the caller receives the error.
	Authorize func(*http.Request) error
	// Look returns what an actor has stored. It wraps ErrNoType if there is no such type.
	Look func(ctx context.Context, typ, id string, q inspect.Query) (inspect.Found, error)
	// Shower returns what turns values into JSON.
	Shower func() *inspect.Shower
}

// ErrNoType means that a node shows no state of actors of a type.
var ErrNoType = errors.New("no such type")

// An Entity is what an actor has stored. The JSON names of its fields are a stable interface;
// docs/status.md describes them.
type Entity struct {
	Type          string           `json:"type"`
	ID            string           `json:"id"`
	PersistenceID string           `json:"persistenceID"`
	Seq           uint64           `json:"seq"`
	Time          *time.Time       `json:"time"`
	Shredded      uint64           `json:"shredded"`
	State         any              `json:"state"`
	Events        []EntityEvent    `json:"events"`
	Since         uint64           `json:"since"`
	Changes       []inspect.Change `json:"changes"`
}

// An EntityEvent is one of the last events of an [Entity].
type EntityEvent struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Type     string    `json:"type"`
	Event    any       `json:"event"`
	Shredded bool      `json:"shredded"`
	Error    string    `json:"error"`
}

// maxEvents bounds the events in one answer.
const maxEvents = 1000

// entity shows an actor: ?type=cart&id=42. With at=SEQ or at=TIME the state of then, with events=N
// the last events, with diff=SEQ what has changed since that event.
func (s *States) entity(w http.ResponseWriter, r *http.Request) {
	if err := s.Authorize(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	var wrong wrongQueryError
	e, err := s.Entity(r.Context(), r.URL.Query())
	switch {
	case err == nil:
		answer(w, e)
	case errors.As(err, &wrong):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, ErrNoType), errors.Is(err, inspect.ErrNoSingleton), errors.Is(err, inspect.ErrNotSourced):
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

type wrongQueryError struct{ error }

// Entity returns what the page shows for a query, without authorization.
func (s *States) Entity(ctx context.Context, form url.Values) (*Entity, error) {
	typ, id, q, since, err := asked(form)
	if err != nil {
		return nil, wrongQueryError{err}
	}
	return s.found(ctx, typ, id, q, since)
}

func asked(form url.Values) (typ, id string, q inspect.Query, since uint64, err error) {
	if typ, id = form.Get("type"), form.Get("id"); typ == "" || id == "" {
		return "", "", q, 0, errors.New("name an actor: ?type=TYPE&id=ID")
	}
	if at := form.Get("at"); at != "" {
		if q.At, err = strconv.ParseUint(at, 10, 63); err != nil {
			if q.Until, err = time.Parse(time.RFC3339, at); err != nil {
				return "", "", q, 0, fmt.Errorf("at=%q is neither the number of an event nor a time such as 2026-11-30T12:00:00Z", at)
			}
		}
	}
	if n := form.Get("events"); n != "" {
		if q.Events, err = strconv.Atoi(n); err != nil || q.Events < 0 || q.Events > maxEvents {
			return "", "", q, 0, fmt.Errorf("events=%q is not a number from 0 to %d", n, maxEvents)
		}
	}
	if n := form.Get("diff"); n != "" {
		if since, err = strconv.ParseUint(n, 10, 63); err != nil || since == 0 {
			return "", "", q, 0, fmt.Errorf("diff=%q is not the number of an event", n)
		}
	}
	return typ, id, q, since, nil
}

func (s *States) found(ctx context.Context, typ, id string, q inspect.Query, since uint64) (*Entity, error) {
	f, err := s.Look(ctx, typ, id, q)
	if err != nil {
		return nil, err
	}
	show := s.Shower().Show
	e := &Entity{Type: typ, ID: id, PersistenceID: f.ID, Seq: f.Seq, Shredded: f.Shredded, State: show(f.State), Events: []EntityEvent{}, Since: since, Changes: []inspect.Change{}}
	if !f.Time.IsZero() {
		e.Time = &f.Time
	}
	for _, event := range f.Events {
		shown := EntityEvent{Seq: event.Seq, Time: event.Time, Type: event.Type, Shredded: event.Shredded, Error: event.Error}
		if !event.Shredded && event.Error == "" {
			shown.Event = show(event.Event)
		}
		e.Events = append(e.Events, shown)
	}
	if since > 0 {
		before, err := s.Look(ctx, typ, id, inspect.Query{At: since})
		if err != nil {
			return nil, fmt.Errorf("since event %d: %w", since, err)
		}
		e.Changes = inspect.Diff(show(before.State), e.State)
	}
	return e, nil
}

// A showing source says that the handler shows states.
type showing struct{ Source }

func (s showing) Snapshot() (Snapshot, <-chan struct{}) {
	shown, changed := s.Source.Snapshot()
	shown.States = true
	return shown, changed
}

func noStates(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this program does not show what actors have stored: pass cluster.ShowStates to node.Handler", http.StatusNotFound)
}
