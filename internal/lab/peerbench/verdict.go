package main

import (
	"fmt"
	"strings"
)

// verdict returns what the table says below its figures: the peers that were measured elsewhere,
// and whether our goal is reached. It is empty when there is nothing to say.
func (r row) verdict() string {
	ours, ok := r.ours()
	if !ok {
		return ""
	}
	var said []string
	if taken := r.elsewhere(); len(taken) > 0 {
		said = append(said, "Elsewhere: "+strings.Join(taken, ", ")+".")
	}
	if times, ok := r.bestPeer(ours); ok && r.Goal > 0 {
		said = append(said, fmt.Sprintf("Goal, %.1f times ours: %s.", r.Goal, r.reached(times)))
	}
	if r.Limit > 0 {
		said = append(said, fmt.Sprintf("Goal, below %.0f: %s.", r.Limit, yesOrNo(ours < r.Limit)))
	}
	if x := r.all[withCodec]; r.Share > 0 && len(x.good) > 0 {
		share := x.summary().Value / ours
		said = append(said, fmt.Sprintf("We have %.0f %% of the throughput of %s. Goal, %.0f %%: %s.", 100*share, withCodec, 100*r.Share, yesOrNo(share >= r.Share)))
	}
	return strings.Join(said, " ")
}

// reached says whether the goal is reached. times is the best peer's figure divided by ours. It is
// never reached while a peer that may be better has not run.
func (r row) reached(times float64) string {
	if missing := r.missing(); times >= r.Goal && len(missing) > 0 {
		return "open, because " + strings.Join(missing, " and ") + " did not run"
	}
	return yesOrNo(times >= r.Goal)
}

func yesOrNo(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// missing returns the peers without a result that may be the best: all but those that were behind
// another peer where all were measured.
func (r row) missing() (names []string) {
	for _, l := range libraries {
		if l.peer && l.takesPart(r.Name) && len(r.all[l.name].good) == 0 && !r.behind(l.name) {
			names = append(names, l.name)
		}
	}
	return names
}

func (r row) behind(library string) bool {
	for _, f := range r.Elsewhere {
		if f.Library == library {
			return !f.Leads
		}
	}
	return false
}

// elsewhere says what the peers that did not run have taken on another machine.
func (r row) elsewhere() (said []string) {
	for _, f := range r.Elsewhere {
		if len(r.all[f.Library].good) > 0 {
			continue
		}
		leads := ""
		if f.Leads {
			leads = " (led)"
		}
		said = append(said, f.Library+" "+figure(f.Value)+leads)
	}
	return said
}

// bestPeer returns the lowest median of a peer, divided by ours.
func (r row) bestPeer(ours float64) (times float64, ok bool) {
	for _, l := range libraries {
		x := r.all[l.name]
		if !l.peer || len(x.good) == 0 {
			continue
		}
		if t := x.summary().Value / ours; !ok || t < times {
			times, ok = t, true
		}
	}
	return times, ok
}
