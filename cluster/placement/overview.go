package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/placementstatus"
)

const (
	// mostShown is how many actors an overview has. If there are more, it has only those that do
	// not run or should move.
	mostShown = 1000
	// mostExplained is for how many of them all nodes are considered.
	mostExplained = 100
	// patience is how long a start or a stop may take before it counts as trouble.
	patience = 10 * time.Second
)

// Overview returns what status pages show: about maxBytes bytes.
func (m *planner) Overview(coordinator string, now time.Time, maxBytes int) placementstatus.Overview {
	counts := m.Counts()
	o := placementstatus.Overview{
		Coordinator: coordinator, States: map[string]int{}, Moves: map[string]uint64{}, StartFailures: counts.StartFailures,
		Nodes: []placementstatus.Node{}, Actors: []placementstatus.Actor{},
	}
	for state, n := range counts.Specs {
		o.States[string(state)] = n
	}
	for cause, n := range counts.Moves {
		o.Moves[string(cause)] = n
	}
	for _, n := range m.View().Nodes {
		o.Nodes = append(o.Nodes, placementstatus.Node{Name: n.Name, Ready: n.Ready, Alive: n.Alive(), Draining: n.Draining, Actors: len(n.Actors)})
	}
	m.showActors(&o, now, maxBytes)
	return o
}

// showActors adds the actors to o, those in trouble first.
func (m *planner) showActors(o *placementstatus.Overview, now time.Time, maxBytes int) {
	all := len(m.specs.all) + len(m.singletons.all)
	shown := append(showSpecs(m.specs, now, all <= mostShown), m.singletons.shown(o.States, all <= mostShown)...)
	total := 0
	for _, n := range o.States {
		total += n
	}
	slices.SortFunc(shown, func(a, b placementstatus.Actor) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Label, b.Label))
	})
	size := 0
	for i := range shown {
		a := &shown[i]
		if a.Trouble && a.Why == "" && i < mostExplained {
			a.Why = whyNot(m.specs, a.Label)
		}
		if size += len(a.Label) + len(a.Type) + len(a.Node) + len(a.Why) + 64; i == mostShown || i > 0 && size > maxBytes {
			break
		}
		o.Actors = append(o.Actors, *a)
	}
	o.LeftOut = total - len(o.Actors)
}

// rank orders actors: those in trouble come first, and those that run come last.
func rank(a placementstatus.Actor) int {
	switch {
	case a.Trouble:
		return 0
	case !a.Running:
		return 1
	}
	return 2
}

// showSpecs returns the specs as status pages show them. Without all it leaves out those that run
// and need not move.
func showSpecs(s *specs, now time.Time, all bool) []placementstatus.Actor {
	var shown []placementstatus.Actor
	for _, it := range s.all {
		if all || it.state != Running || s.nodes.Draining(it.on) {
			shown = append(shown, it.show(s, now))
		}
	}
	return shown
}

func (it *item) show(s *specs, now time.Time) placementstatus.Actor {
	st := s.status(it)
	a := placementstatus.Actor{
		Label: it.Label, Type: it.Type, State: string(st.State), Running: st.State == Running, Node: st.Node,
		Since: timeOrNil(st.Since), Failures: st.Attempts, Next: timeOrNil(st.NextAttempt),
	}
	switch st.State {
	case Running:
		a.Trouble = s.nodes.Draining(it.on)
	case Pending:
		a.Trouble = now.Sub(st.Since) >= patience
		a.Why = s.nodes.Awaited(it.Label)
	case WaitingForReturn:
		a.Trouble = true
		a.Why = "it waits for the return of " + st.Node
	case Unplaced:
		a.Trouble = true
		if st.LastError != "" {
			a.Why = fmt.Sprintf("it has failed %d times in a row, the last time with: %s", st.Attempts, st.LastError)
		}
	}
	return a
}

// whyNot returns why no node can be chosen for a label now, or "".
func whyNot(s *specs, label string) string {
	e, err := s.explain(label)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(e.Error, "placement: ")
}

// shown returns the singletons as status pages show them, and counts their states. Without all it
// leaves out those that run.
func (s *singletons) shown(states map[string]int, all bool) []placementstatus.Actor {
	var shown []placementstatus.Actor
	for _, x := range s.all {
		if !x.registered {
			continue
		}
		o := x.ownership()
		states[string(o.Phase)]++
		if all || o.Phase != SingletonActive {
			shown = append(shown, x.show(o))
		}
	}
	return shown
}

func (x *managed) show(o Ownership) placementstatus.Actor {
	return placementstatus.Actor{
		Label: o.Label, Type: x.spec.Type, Singleton: true, State: string(o.Phase), Running: o.Phase == SingletonActive, Node: o.Owner,
		Trouble: o.Error != "" || o.Phase == SingletonOwnerless, Why: strings.TrimPrefix(o.Error, "placement: "),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
