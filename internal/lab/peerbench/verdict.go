package main

import (
	"fmt"
	"strings"
	"time"
)

// verdict returns what the table says below its figures: whether our goals are reached. It is empty
// when there is nothing to say. others are all rows.
func (r row) verdict(others []row) string {
	ours, ok := r.ours()
	if !ok {
		return ""
	}
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if times, ok := r.bestPeer(value); ok && r.Goal > 0 {
		say("Goal, %.1f times ours: %s.", r.Goal, r.reached(times, r.Goal))
	}
	if times, ok := r.bestPeer(p99); ok && r.GoalP99 > 0 {
		say("Goal, a p99 of %.1f times ours: %s.", r.GoalP99, r.reached(times, r.GoalP99))
	}
	if r.Limit > 0 {
		say("Goal, below %.0f: %s.", r.Limit, yesOrNo(ours.Value < r.Limit))
	}
	if x, ok := r.of(bare); ok && r.Bare > 0 {
		say("Goal, at most %.1f times %s: %s (%s).", r.Bare, bare, yesOrNo(ours.Value <= r.Bare*x.Value), ratio(ours.Value/x.Value))
	}
	if x, ok := r.of(withCodec); ok && r.Share > 0 {
		share := x.Value / ours.Value
		say("We have %.0f %% of the throughput of %s. Goal, %.0f %%: %s.", 100*share, withCodec, 100*r.Share, yesOrNo(share >= r.Share))
	}
	for _, plain := range others {
		if x, ok := plain.ours(); ok && plain.Name == r.Plain {
			times := ours.Value / x.Value
			say("This is %s times `%s`. Goal, at most %.2f: %s.", ratio(times), r.Plain, r.Most, yesOrNo(times <= r.Most))
		}
	}
	return strings.Join(said, " ")
}

// reached says whether a goal is reached. times is the best peer's figure divided by ours. It is
// never reached while a peer that may be better has not run.
func (r row) reached(times, goal float64) string {
	said := fmt.Sprintf("%s (%s)", yesOrNo(times >= goal), ratio(times))
	if missing := r.missing(); times >= goal && len(missing) > 0 {
		return "open, because " + strings.Join(missing, " and ") + " did not run"
	}
	return said
}

func yesOrNo(reached bool) string {
	if reached {
		return "reached"
	}
	return "**not reached**"
}

// missing returns the peers without a result.
func (r row) missing() (names []string) {
	for _, l := range libraries {
		if l.peer && l.takesPart(r.Name) && len(r.all[l.name].good) == 0 {
			names = append(names, l.name)
		}
	}
	return names
}

func value(s summary) float64 { return s.Value }

func p99(s summary) float64 { return float64(s.P99) / float64(time.Nanosecond) }

// bestPeer returns the lowest median of a figure of a peer, divided by ours.
func (r row) bestPeer(figure func(summary) float64) (times float64, ok bool) {
	ours, _ := r.ours()
	for _, l := range libraries {
		x, ran := r.of(l.name)
		if !l.peer || !ran {
			continue
		}
		if t := figure(x) / figure(ours); !ok || t < times {
			times, ok = t, true
		}
	}
	return times, ok
}
