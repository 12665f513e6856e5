//go:build linux

package main

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Life is what is known of one process: the events that it has seen, in order, and when it ended.
type Life struct {
	Node  string
	Seen  []ObservedEvent
	Ended time.Duration // 0 if it goes on
}

// fullStops returns each time since when no process was a member of a cluster. Every process of the
// old cluster had then ended or downed itself, before the first process of the next cluster was a
// member. Terms begin again there.
//
// A process counts as a member until it says that it has lost its membership, or ends. It counts
// also while it is stopped or cut off, and after others have removed it.
func fullStops(lives []Life) (stops []time.Duration) {
	first := firstSeen(lives)
	var all []span
	for _, l := range lives {
		all = append(all, l.memberships(first)...)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a[0], b[0]) })
	var last time.Duration // until then there were members
	for i, s := range all {
		if i > 0 && s[0] > last {
			stops = append(stops, last)
		}
		last = max(last, s[1])
	}
	return stops
}

// firstSeen returns when each incarnation was first seen as a member, by whichever process: others
// may have seen it before itself.
func firstSeen(lives []Life) map[string]time.Duration {
	first := map[string]time.Duration{}
	for _, l := range lives {
		for _, s := range l.Seen {
			if at, known := first[s.ID]; s.isMember() && (!known || s.At < at) {
				first[s.ID] = s.At
			}
		}
	}
	return first
}

// memberships returns the times in which the process was a member of a cluster.
func (l Life) memberships(first map[string]time.Duration) (spans []span) {
	const goesOn = time.Duration(math.MaxInt64)
	end := func(at time.Duration) {
		if n := len(spans); n > 0 {
			spans[n-1][1] = min(spans[n-1][1], at)
		}
	}
	member := false
	for _, s := range l.Seen {
		switch {
		case s.Kind == "MembershipLost":
			end(s.At)
			member = false
		case !member && s.isMember() && s.Member == l.Node:
			spans = append(spans, span{min(s.At, first[s.ID]), goesOn})
			member = true
		}
	}
	if l.Ended > 0 {
		end(l.Ended)
	}
	return spans
}

// isMember reports whether the event says that somebody is a member.
func (s ObservedEvent) isMember() bool {
	switch s.Kind {
	case "MemberJoined", "MemberUp", "MemberLeaving", "MemberExiting":
		return true
	}
	return false
}
