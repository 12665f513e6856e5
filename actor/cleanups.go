package actor

import "slices"

// A cleanup is a function given to Defer.
type cleanup struct {
	depth int
	run   func()
	of    any // what may take it out again; nil for what stays
}

// cleanups are the functions given to Defer, the last one last.
type cleanups []cleanup

func (l *cleanups) add(c cleanup) { *l = append(*l, c) }

// drop removes the cleanup that belongs to owner.
func (l *cleanups) drop(owner any) {
	*l = slices.DeleteFunc(*l, func(c cleanup) bool { return c.of == owner })
}

// run calls, by guard, the functions that were deferred inside layer, and those that they defer.
func (l *cleanups) run(layer int, guard func(what string, f func())) {
	if len(*l) == 0 {
		return
	}
	var kept []cleanup
	for len(*l) > 0 {
		end := len(*l) - 1
		last := (*l)[end]
		*l = (*l)[:end]
		if last.depth > layer {
			guard("deferred function", last.run)
		} else {
			kept = append(kept, last)
		}
	}
	slices.Reverse(kept)
	*l = kept
}
