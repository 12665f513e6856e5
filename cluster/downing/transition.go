package downing

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Transition changes the strategy of a cluster in rolling restarts, without a moment in which
// two sides of a split can both go on: restart all nodes, one after the other, with a
// Transition, and then all of them with To alone. A node with a Transition may be a member
// beside nodes with From alone, or beside nodes with To alone; nodes with To alone are refused
// while there is a member with From alone. It is the joint consensus of Raft (Ongaro and
// Ousterhout, 2014), applied to downing.
//
// A side whose decider has a Transition goes on when both strategies say so, and downs itself
// when one of them does. So a split during the change may end the whole cluster, which then
// forms anew, where one strategy alone would have kept a side.
type Transition struct {
	From Strategy // what the members have so far
	To   Strategy // what they are to have
}

// Validate says what is wrong with the settings: a strategy is missing or wrong, there is no
// difference, or one is a [LeaseMajority]. That one changes in a full stop of the cluster only,
// as two sides could be granted different leases.
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

// OrStableAfter returns t with strategies that have d for StableAfter unless that is set.
func (t Transition) OrStableAfter(d time.Duration) Strategy {
	return Transition{From: OrStableAfter(t.From, d), To: OrStableAfter(t.To, d)}
}

// Delay returns the longer one of the two; it is negative, which means never, if either is.
func (t Transition) Delay() time.Duration {
	if from, to := t.From.Delay(), t.To.Delay(); from >= 0 && to >= 0 {
		return max(from, to)
	}
	return -1
}

// Skew returns the longer one of the two.
func (t Transition) Skew() time.Duration { return max(t.From.Skew(), t.To.Skew()) }

// String names both strategies.
func (t Transition) String() string { return fmt.Sprintf("transition(from=%v, to=%v)", t.From, t.To) }

// Names returns the names of the strategies that a node with s shares with other members: both
// of a [Transition], else that of s. Two nodes may be members of one cluster if they share one.
func Names(s Strategy) []string {
	if t, is := s.(Transition); is {
		return []string{t.From.String(), t.To.String()}
	}
	return []string{s.String()}
}

// Decide implements [Strategy].
func (t Transition) Decide(s Situation) Decision {
	here, _ := s.Split()
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

// yields reports whether a side ends by a decision.
func yields(d Decision, here []Member) bool {
	return len(here) > 0 && !slices.ContainsFunc(here, func(m Member) bool { return !slices.ContainsFunc(d.Down, m.same) })
}

func unite(a, b []Member) []Member {
	return append(slices.Clone(a), filter(b, func(m Member) bool { return !slices.ContainsFunc(a, m.same) })...)
}
