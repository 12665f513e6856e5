package downing

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Transition changes the strategy of a cluster by rolling restarts, without a moment in which
// two sides of a split can both continue. First restart all nodes, one after the other, with a
// Transition. Then restart all of them with To alone.
//
// A node with a Transition may be a member beside nodes with From alone, or beside nodes with
// To alone. A node with To alone is refused while a member has From alone. It is the joint
// consensus of Raft (Ongaro and Ousterhout, 2014), applied to downing.
//
// A side whose decider has a Transition continues if both strategies say so, and downs itself
// if one of them does. A split during the change may therefore end the whole cluster, which
// then forms anew, where one strategy alone would have kept a side.
type Transition struct {
	From Strategy // the strategy that the members have so far
	To   Strategy // the strategy that they get
}

// Validate returns an error if a strategy is missing or invalid, if both are equal, or if one
// is a [LeaseMajority] or a Transition. To change to or from LeaseMajority, stop the whole
// cluster, because two sides could be granted different leases.
func (t Transition) Validate() error {
	if t.From == nil || t.To == nil {
		return errors.New("downing: Transition.From and Transition.To must both be set")
	}
	if t.From.String() == t.To.String() {
		return fmt.Errorf("downing: Transition.From and Transition.To are both %v; use it alone", t.To)
	}
	for _, s := range []Strategy{t.From, t.To} {
		if err := validateEnd(s); err != nil {
			return err
		}
	}
	return nil
}

func validateEnd(s Strategy) error {
	switch s.(type) {
	case LeaseMajority:
		return errors.New("downing: Transition cannot change to or from LeaseMajority, or its settings; stop all nodes, and start them with the new strategy")
	case Transition:
		return errors.New("downing: Transition.From and Transition.To must not be Transitions; complete one change before the next")
	}
	if v, can := s.(interface{ Validate() error }); can {
		return v.Validate()
	}
	return nil
}

// OrStableAfter returns t with d as the StableAfter of each of its strategies that has none.
func (t Transition) OrStableAfter(d time.Duration) Strategy {
	return Transition{From: OrStableAfter(t.From, d), To: OrStableAfter(t.To, d)}
}

// Delay returns the longer delay of the two strategies. It is negative, which means never, if
// either is.
func (t Transition) Delay() time.Duration {
	if from, to := t.From.Delay(), t.To.Delay(); from >= 0 && to >= 0 {
		return max(from, to)
	}
	return -1
}

// Skew returns the longer skew of the two strategies.
func (t Transition) Skew() time.Duration { return max(t.From.Skew(), t.To.Skew()) }

// String names both strategies.
func (t Transition) String() string { return fmt.Sprintf("transition(from=%v, to=%v)", t.From, t.To) }

// Names returns the names of the strategies of a node: both strategies of a [Transition],
// otherwise s alone. Two nodes may be members of one cluster if they share a name.
func Names(s Strategy) []string {
	if t, is := s.(Transition); is {
		return []string{t.From.String(), t.To.String()}
	}
	return []string{s.String()}
}

// Decide implements [Strategy].
func (t Transition) Decide(s Situation) Decision {
	here, _ := s.Split()
	// The other side may have members with From alone or To alone. It continues only if one of the
	// two says so there. Each of them lets one side continue, so a side that has both is the only
	// one.
	from, to := t.From.Decide(s), t.To.Decide(s)
	switch {
	case yields(from, here):
		return from
	case yields(to, here):
		return to
	case len(from.Down) == 0 || len(to.Down) == 0:
		return Decision{}
	}
	return Decision{Down: unite(from.Down, to.Down), Reason: to.Reason}
}

func yields(d Decision, here []Member) bool {
	return len(here) > 0 && !slices.ContainsFunc(here, func(m Member) bool { return !slices.ContainsFunc(d.Down, m.same) })
}

func unite(a, b []Member) []Member {
	return append(slices.Clone(a), filter(b, func(m Member) bool { return !slices.ContainsFunc(a, m.same) })...)
}
