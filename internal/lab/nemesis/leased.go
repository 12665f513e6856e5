package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// checkLeased finds reports that contradict the lease, and counts allowed late reports. An instance
// may finish late the message that it was handling when its process was stopped. It checks its
// lease before each message, so that happens only once, and after a silence that is longer than the
// time by which the holder ends early.
func checkLeased(runs []Run) (found []string, midst int) {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Said[0], b.Said[0]) })
	found = checkGenerations(runs, nil)
	for _, a := range runs {
		next := slices.IndexFunc(runs, func(b Run) bool { return a.Generation.Less(b.Generation) })
		if next < 0 {
			continue
		}
		b := runs[next]
		i, _ := slices.BinarySearch(a.Said, b.Said[0])
		switch late := a.Said[i:]; {
		case len(late) == 0:
		case len(late) > 1:
			found = append(found, fmt.Sprintf("%v of %s has said that it runs %d times since %v, %v of %s since %v",
				a.Generation, a.Node, len(late), late[0], b.Generation, b.Node, b.Said[0]))
		case i == 0:
			found = append(found, fmt.Sprintf("%v of %s has said that it runs at %v, before which it has said nothing, %v of %s at %v",
				a.Generation, a.Node, late[0], b.Generation, b.Node, b.Said[0]))
		case late[0]-a.Said[i-1] < leaseSlack:
			found = append(found, fmt.Sprintf("%v of %s has said that it runs at %v, %v of %s at %v",
				a.Generation, a.Node, late[0], b.Generation, b.Node, b.Said[0]))
		default:
			midst++
		}
	}
	return found, midst
}

// followed returns how long after an injection the next instance began. ok is false if no instance
// began before the injection, or if no other one began before the next injection.
func followed(s injection, runs []Run) (after time.Duration, ok bool) {
	before := slices.ContainsFunc(runs, func(r Run) bool { return r.Said[0] <= s.at })
	for _, r := range runs {
		if took := r.Said[0] - s.at; took > 0 && r.Said[0] < s.until && (!ok || took < after) {
			after, ok = took, true
		}
	}
	return after, ok && before
}
