//go:build linux

package main

import "fmt"

// checkEffects finds what the agency has done twice for one step, and what it has done for a
// process that was replaced: before, it had done something for a higher token of the run.
func checkEffects(effects []Effect) (found []string) {
	first, highest := map[string]int{}, map[string]uint64{}
	for i, e := range effects {
		n := i + 1
		if before := first[e.Key]; before > 0 {
			found = append(found, fmt.Sprintf("effects %d and %d are both for %s", before, n, e.Key))
		}
		if e.Token < highest[e.Scope] {
			found = append(found, fmt.Sprintf("effect %d is for token %s of %s, after one for token %s", n, epoch(e.Token), e.Scope, epoch(highest[e.Scope])))
		}
		first[e.Key], highest[e.Scope] = n, max(highest[e.Scope], e.Token)
	}
	return found
}
