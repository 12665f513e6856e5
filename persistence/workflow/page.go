package workflow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A typeStatus is a type as one node knows it. The JSON names of its fields and those of [Status]
// are a stable interface; docs/status.md describes them.
type typeStatus struct {
	Name    string           `json:"name"`
	Counts  map[State]uint64 `json:"counts"`  // runs that have begun ("running") and ended on this node since it started
	Runs    []Status         `json:"runs"`    // in memory of this node, at most shownRuns
	LeftOut int              `json:"leftOut"` // of Runs
}

// shownRuns is how many runs of a type the page shows. Those that are held come first.
const shownRuns = 100

// shown is s as the page shows it.
func shown(s Status) Status {
	s.Error, s.Steps = status.Text(s.Error), append([]StepStatus{}, s.Steps...)
	for i := range s.Steps {
		s.Steps[i].Error = status.Text(s.Steps[i].Error)
	}
	s.Signals, s.Unasked = append([]string{}, s.Signals...), append([]string{}, s.Unasked...) // not null
	return s
}

// section is the Read of a [status.Section].
func (r *registry) section() (map[string]any, []status.Problem) {
	types := r.types()
	var problems []status.Problem
	for _, in := range r.inMemory() {
		s := in.at.Load()
		if s == nil || s.Begun.IsZero() {
			continue
		}
		of := types[in.name]
		if of == nil { // it is being started
			continue
		}
		of.Runs = append(of.Runs, shown(in.status(*s)))
		if s.Hold.Count > 0 {
			problems = append(problems, status.Problem{Kind: "workflow", About: in.name, Text: fmt.Sprintf("Run %s of type %s is held: %s.", in.entity.ID, in.name, status.Text(s.Hold.Err))})
		}
	}
	all := []typeStatus{}
	for _, of := range types {
		slices.SortStableFunc(of.Runs, func(a, b Status) int { return cmp.Compare(rank(a), rank(b)) })
		of.LeftOut = max(len(of.Runs)-shownRuns, 0)
		of.Runs = of.Runs[:min(len(of.Runs), shownRuns)]
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b typeStatus) int { return strings.Compare(a.Name, b.Name) })
	return map[string]any{"workflows": all}, problems[:min(len(problems), shownRuns)]
}

// rank orders runs: those that are held first, those that have ended last.
func rank(s Status) int {
	switch {
	case s.State == Held:
		return 0
	case s.Ended.IsZero():
		return 1
	}
	return 2
}

// All returns the runs of the type that are in the journal, in the order in which they began,
// without their steps and signals, which [Type.Look] has. It reads the events that [TagOf] marks,
// so it takes longer the more runs there are. It returns [ErrInvalid] if the journal cannot be read
// across ids, or if the host is a client.
func (c client) All(ctx context.Context) ([]Status, error) {
	s, err := systemOf(c.host)
	if err != nil {
		return nil, err
	}
	reader, ok := journal.As[journal.EventReader](persistence.JournalOf(s))
	if !ok {
		return nil, fmt.Errorf("workflow: the journal cannot be read across ids, so runs cannot be listed: %w", ErrInvalid)
	}
	states, order := map[string]state{}, []string{}
	for entry, err := range reader.Events(ctx, journal.Query{Tag: TagOf(c.name)}, "") {
		if err != nil {
			return nil, err
		}
		_, id, ok := sharding.ParsePersistenceID(entry.ID)
		if !ok {
			continue
		}
		if entry.Forgotten() {
			delete(states, id)
			continue
		}
		stored, err := persistence.Stored(nil, &entry.Record)
		if err != nil {
			return nil, err
		}
		var e event
		if err := stored.Decode(&e); err != nil {
			return nil, err
		}
		before, known := states[id]
		if !known {
			order = append(order, id)
		}
		states[id] = apply(before, e)
	}
	var all []Status
	for _, id := range order {
		if s, known := states[id]; known { // else it was forgotten
			delete(states, id) // one that was revived is in order twice
			all = append(all, Status{Type: c.name, ID: id, Tag: s.Tag, State: stateOf(s), Began: s.Begun, Ended: s.End.At, Error: reasonOf(s), Next: s.Hold.Until})
		}
	}
	return all, nil
}

// A list is an answer about the runs of a type.
type list struct {
	Type   string        `json:"type"`
	Counts map[State]int `json:"counts"` // of all runs of the type
	Runs   []Status      `json:"runs"`   // of those that were asked for
	More   int           `json:"more"`   // that are left out
}

// List implements [status.Runs].
func (r *registry) List(ctx context.Context, typ string, only status.RunFilter) (any, error) {
	all, err := client{r.system, typ}.All(ctx)
	if err != nil {
		return nil, err
	}
	l := list{Type: typ, Counts: map[State]int{}, Runs: []Status{}}
	for _, one := range slices.Backward(all) {
		l.Counts[one.State]++
		switch {
		case only.State != "" && State(only.State) != one.State, only.Tag != "" && only.Tag != one.Tag:
		case len(l.Runs) >= only.Limit:
			l.More++
		default:
			l.Runs = append(l.Runs, shown(one))
		}
	}
	return l, nil
}

// reasonOf returns why a run is held, has failed or was cancelled.
func reasonOf(s state) string {
	if s.Turned.State != "" {
		return failureOf(s.Turned.Err).Error()
	}
	return s.Hold.Err
}

// Look implements [status.Runs].
func (r *registry) Look(ctx context.Context, typ, id string) (any, error) {
	c, err := r.client(typ)
	if err != nil {
		return nil, err
	}
	s, err := c.Look(ctx, id)
	return shown(s), err
}

// Steer implements [status.Runs].
func (r *registry) Steer(ctx context.Context, typ, id string, by status.Steering) error {
	c, err := r.client(typ)
	if err != nil {
		return err
	}
	operator := By{Who: by.Who, Why: by.Why}
	switch by.Do {
	case "cancel":
		return c.Cancel(ctx, id, operator)
	case "fail":
		return c.Fail(ctx, id, operator)
	case "retry":
		return c.Retry(ctx, id, operator)
	case "resume":
		return c.Resume(ctx, id, by.Step, operator)
	}
	return fmt.Errorf("%w: a run can be cancelled, failed, retried and resumed, and not %q", ErrInvalid, by.Do)
}
