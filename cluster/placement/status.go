package placement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/status"
)

// A State is the state of a spec.
type State string

// The states of a spec.
const (
	// Running means that the actor runs.
	Running State = "running"
	// Pending means that the actor is being started, or stopped in order to be moved, or that its
	// node has been removed from the cluster and may still run it.
	Pending State = "pending"
	// WaitingForReturn means that the actor's node is gone and expected back.
	WaitingForReturn State = "waiting for return"
	// Unplaced means that no node is eligible, or that the last attempt failed and the next one is
	// not due yet.
	Unplaced State = "unplaced"
)

// A Status describes a spec and its actor.
type Status struct {
	_           struct{} `cbor:",toarray"`
	Spec        Spec
	State       State
	Node        string    // where the actor runs, is being started or is expected back; "" when unplaced
	Since       time.Time // when State was entered, as far as this coordinator knows
	Attempts    int       // failed starts, and ends without a request, since it last ran for Retry.Max; 0 while it runs
	LastError   string    // of the last failure; "" while it runs
	NextAttempt time.Time // when the next start is due, or the wait for the node ends; zero if only a change of the cluster can help
}

// An Explanation says why an actor is where it is, or why it runs nowhere.
type Explanation struct {
	_          struct{} `cbor:",toarray"`
	Status     Status
	Awaited    string      // what a node is doing, and since when: "spawning on n2 since …"; "" if the actor runs or is on no node
	Decision   Decision    // the last one; zero if this coordinator has not placed the actor
	Candidates []Candidate // how each node would rate if the actor were placed now
	Error      string      // why no node could be chosen now; "" if a node could be chosen
}

// store puts the records of the specs that may have changed.
func (s *specs) store() {
	for _, label := range slices.Sorted(maps.Keys(s.changed)) {
		if it := s.all[label]; it != nil {
			it.updateState(s)
		}
		s.nodes.Put(ofSpec+label, s.recordOf(label))
	}
	clear(s.changed)
}

// recordOf returns the record of a label for the journal, or nil.
func (s *specs) recordOf(label string) *home.Record {
	if r := s.removals[label]; r != nil {
		return r.record
	}
	if it := s.all[label]; it != nil {
		r := it.record(s.nodes)
		return &r
	}
	return nil
}

func (it *item) updateState(s *specs) {
	now := it.stateIn(s.nodes)
	if now == it.state {
		return
	}
	if it.state != "" {
		s.inState[it.state]--
	}
	s.inState[now]++
	it.state, it.since = now, s.nodes.Now()
}

// record returns the record of an item for the journal.
func (it *item) record(f *home.Nodes) home.Record {
	return home.Record{
		Spec: it.data, Node: it.on.Name, Incarnation: it.on.Incarnation, Request: it.request, Until: it.until,
		Drained: it.drained || f.Draining(it.on),
	}
}

// stateIn returns the state of the spec.
func (it *item) stateIn(f *home.Nodes) State {
	switch it.stage {
	case waiting:
		return WaitingForReturn
	case unplaced:
		return Unplaced
	case placed:
		if p, ok := f.Place(it.on, it.Label); ok && p.Phase == home.Running && home.IsMember(f, it.on) {
			return Running
		}
	case leaving:
	}
	return Pending
}

func (s *specs) status(it *item) Status {
	st := Status{Spec: it.Spec, State: it.stateIn(s.nodes), Node: it.on.Name, Since: it.since}
	if st.State != Running {
		st.Attempts, st.LastError = it.failures, it.lastError
	}
	switch st.State {
	case Unplaced:
		if s.nodes.Now().Before(it.retryAt) {
			st.NextAttempt = it.retryAt
		}
	case WaitingForReturn:
		st.NextAttempt = it.until
	case Running, Pending:
	}
	return st
}

func (s *specs) statuses() []Status {
	all := make([]Status, 0, len(s.all))
	for _, label := range slices.Sorted(maps.Keys(s.all)) {
		all = append(all, s.status(s.all[label]))
	}
	return all
}

func (s *specs) explain(label string) (Explanation, error) {
	it := s.all[label]
	switch {
	case it == nil && s.removals[label] != nil:
		return Explanation{}, fmt.Errorf("%w: %q is being removed: %s", ErrNotFound, label, s.nodes.Awaited(label))
	case it == nil:
		return Explanation{}, fmt.Errorf("%w: %q", ErrNotFound, label)
	}
	e := Explanation{Status: s.status(it), Awaited: s.nodes.Awaited(label), Decision: it.decision}
	all, err := consider(it.Spec, s.nodes.View(), s.beside(it.Spec), s.cfg.Strategy)
	e.Candidates = all
	if err == nil && !slices.ContainsFunc(all, func(c Candidate) bool { return c.Why == "" }) {
		err = noEligible(label, all)
	}
	if err != nil {
		e.Error = err.Error()
	}
	return e, nil
}

// section is what the page of a node shows: what the coordinator knows.
func (c *Coordinator) section() status.Section {
	look := &status.Coordinator[overview]{Ask: c.overview}
	return status.Section{Level: status.Homes, Refresh: look.Refresh, Read: func() (map[string]any, []status.Problem) {
		o, failure := look.Read()
		return map[string]any{"placement": o, "placementFailure": failure}, problemsOf(o, failure)
	}}
}

func problemsOf(o *overview, failure string) []status.Problem {
	switch {
	case failure != "":
		return []status.Problem{{Kind: "placement", Text: "The coordinator of placement does not answer: " + failure + "."}}
	case o == nil:
		return nil
	}
	return o.Trouble()
}

func (c *Coordinator) overview(ctx context.Context) (overview, error) {
	a, err := c.ask(ctx, request{Op: opOverview})
	if err != nil || a.Overview == nil {
		return overview{}, err
	}
	return *a.Overview, nil
}
