package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/status"
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

// An overview is what the coordinator knows, as status pages show it. The JSON names are a stable
// interface; docs/status.md describes them.
type overview struct {
	_             struct{}          `cbor:",toarray"`
	Coordinator   string            `json:"coordinator"`   // the name of its node
	States        map[string]int    `json:"states"`        // actors by state
	Moves         map[string]uint64 `json:"moves"`         // actors that had to be started anew since the coordinator began, by cause
	StartFailures uint64            `json:"startFailures"` // since the coordinator began
	Nodes         []shownNode       `json:"nodes"`         // by name
	Actors        []shownActor      `json:"actors"`        // those in trouble first, then those that do not run, then by label
	LeftOut       int               `json:"actorsLeftOut"`
}

// A shownNode is a member on which actors may be placed.
type shownNode struct {
	_        struct{} `cbor:",toarray"`
	Name     string   `json:"name"`
	Ready    bool     `json:"ready"`    // it runs placement, and has reported to the coordinator
	Alive    bool     `json:"alive"`    // actors may be placed there
	Draining bool     `json:"draining"` // its actors are being moved away
	Actors   int      `json:"actors"`   // that run there, or are on their way
}

// A shownActor is a spec, or a singleton of placement, and its actor.
type shownActor struct {
	_         struct{}   `cbor:",toarray"`
	Label     string     `json:"label"`
	Type      string     `json:"type"`
	Singleton bool       `json:"singleton"`
	State     string     `json:"state"`
	Running   bool       `json:"running"`
	Node      string     `json:"node"`     // where it runs, is being started or is expected back; "" for none
	Since     *time.Time `json:"since"`    // when the state began, nil if that is unknown
	Failures  int        `json:"failures"` // failed starts, and ends without a request, in a row
	Next      *time.Time `json:"nextAttempt"`
	Trouble   bool       `json:"trouble"` // it does not run where it should, and that has lasted
	Why       string     `json:"why"`     // why it does not run, or does not move; "" if nothing is to be said
}

// Overview returns what status pages show: about maxBytes bytes.
func (m *planner) Overview(coordinator string, now time.Time, maxBytes int) overview {
	counts := m.Counts()
	o := overview{
		Coordinator: coordinator, States: map[string]int{}, Moves: map[string]uint64{}, StartFailures: counts.StartFailures,
		Nodes: []shownNode{}, Actors: []shownActor{},
	}
	for state, n := range counts.Specs {
		o.States[string(state)] = n
	}
	for cause, n := range counts.Moves {
		o.Moves[string(cause)] = n
	}
	for _, n := range m.View().Nodes {
		o.Nodes = append(o.Nodes, shownNode{Name: n.Name, Ready: n.Ready, Alive: n.Alive(), Draining: n.Draining, Actors: len(n.Actors)})
	}
	m.showActors(&o, now, maxBytes)
	return o
}

// showActors adds the actors to o, those in trouble first.
func (m *planner) showActors(o *overview, now time.Time, maxBytes int) {
	all := len(m.specs.all) + len(m.singletons.all)
	shown := append(showSpecs(m.specs, now, all <= mostShown), m.singletons.shown(o.States, all <= mostShown)...)
	total := 0
	for _, n := range o.States {
		total += n
	}
	slices.SortFunc(shown, func(a, b shownActor) int {
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
func rank(a shownActor) int {
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
func showSpecs(s *specs, now time.Time, all bool) []shownActor {
	var shown []shownActor
	for _, it := range s.all {
		if all || it.state != Running || s.nodes.Draining(it.on) {
			shown = append(shown, it.show(s, now))
		}
	}
	return shown
}

func (it *item) show(s *specs, now time.Time) shownActor {
	st := s.status(it)
	a := shownActor{
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
func (s *singletons) shown(states map[string]int, all bool) []shownActor {
	var shown []shownActor
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

func (x *managed) show(o Ownership) shownActor {
	return shownActor{
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

// Trouble says why actors do not run where they should.
func (o overview) Trouble() (found []status.Problem) {
	for _, a := range o.Actors {
		if a.Trouble {
			found = append(found, status.Problem{Kind: "placement", About: a.Label, Text: a.trouble()})
		}
	}
	return found
}

func (a shownActor) trouble() string {
	why := cmp.Or(a.Why, "the reason is unknown")
	switch {
	case a.Running:
		return fmt.Sprintf("%s cannot leave %s, whose actors are to be moved away: %s.", a.Label, a.Node, why)
	case a.Node == "":
		return fmt.Sprintf("%s is not placed: %s.", a.Label, why)
	}
	return fmt.Sprintf("%s does not run: %s.", a.Label, why)
}
