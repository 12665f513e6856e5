package actor

import "slices"

type cleanup struct {
	depth int
	run   func()
	of    any // what may take it out again; nil for what stays
}

// The last one runs first.
type cleanups []cleanup

func (l *cleanups) add(c cleanup) { *l = append(*l, c) }

func (l *cleanups) drop(owner any) {
	*l = slices.DeleteFunc(*l, func(c cleanup) bool { return c.of == owner })
}

// run runs also what they defer.
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
