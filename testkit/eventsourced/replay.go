package eventsourced

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Replay rebuilds the state of each persistence id in j for which of returns true, with the
// behavior that b returns for it, and returns the states by id. So a test finds out before a
// release whether the new build reads what older ones have stored: give it a copy of a journal.
//
//	states := eventsourced.Replay[Cart](t, system, copied, sharding.OfType("cart"), newCart)
//
// The test fails for each id with an event that cannot be decoded, with an event handler that
// panics, and with a snapshot that differs from the state that the events alone lead to. Nothing
// is claimed or written. The behavior may be wrapped as for [Of]; no command handler runs. S is the
// type of the states. j must be a [journal.EventReader], as all journals of this project are.
func Replay[S, M any](t testing.TB, s *actor.System, j persistence.Journal, of func(id string) bool, b func(id string, j persistence.Journal) actor.Behavior[M]) map[string]S {
	t.Helper()
	r := replay{t, s, func(id string, under actor.Spawner, name string, with context.Context) actor.AnyRef {
		return actor.Spawn(under, func(ctx *actor.Context[M], next *actor.Next[M]) {
			b(id, j)(ctx, next)
			next.Stop()
		}, name, extension.WithContext(with))
	}}
	all := map[string]S{}
	for _, id := range r.ids(j, of) {
		switch state := r.state(id).(type) {
		case S:
			all[id] = state
		case nil: // it has been reported
		default:
			t.Errorf("eventsourced: the state of %q is a %T, and not a %v", id, state, reflect.TypeFor[S]())
		}
	}
	return all
}

type replay struct {
	t      testing.TB
	system *actor.System
	spawn  func(id string, under actor.Spawner, name string, with context.Context) actor.AnyRef
}

func (r *replay) ids(j persistence.Journal, of func(id string) bool) []string {
	r.t.Helper()
	reader, ok := journal.As[journal.EventReader](j)
	if !ok {
		r.t.Fatalf("eventsourced: a %T does not read events across persistence ids; copy them into one that does, such as persistence/sqlite", j)
	}
	found := map[string]bool{}
	for e, err := range reader.Events(r.t.Context(), journal.Query{}, "") {
		if err != nil && e.ID == "" {
			r.t.Fatalf("eventsourced: %v", err)
		}
		if of(e.ID) && !e.Forgotten() {
			found[e.ID] = true // an error is found again when the id is read
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// state returns nil if it has reported an error.
func (r *replay) state(id string) any {
	r.t.Helper()
	found, err := r.look(id, inspect.Query{})
	if err != nil {
		r.t.Errorf("eventsourced: %v", err)
		return nil
	}
	alone, err := r.look(id, inspect.Query{NoSnapshots: true})
	switch {
	case errors.Is(err, persistence.ErrCorrupt): // events are deleted behind a snapshot
		return found.State
	case err != nil:
		r.t.Errorf("eventsourced: without its snapshots: %v", err)
		return nil
	}
	var show inspect.Shower
	for _, c := range inspect.Diff(show.Show(found.State), show.Show(alone.State)) {
		r.t.Errorf("eventsourced: the state of %q differs at %q: %v with its snapshot, %v by its events alone; "+
			"the event handler has changed its meaning since the snapshot", id, c.Path, c.Before, c.After)
	}
	return found.State
}

func (r *replay) look(id string, q inspect.Query) (inspect.Found, error) {
	return inspect.Run(r.t.Context(), r.system, q, func(under actor.Spawner, name string, with context.Context) actor.AnyRef {
		return r.spawn(id, under, name, with)
	})
}
