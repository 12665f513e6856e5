//go:build linux

package main

import "fmt"

// checkEffects finds what the agency has done twice for one step.
func checkEffects(effects []Effect) (found []string) {
	first := map[string]int{}
	for i, e := range effects {
		if before := first[e.Key]; before > 0 {
			found = append(found, fmt.Sprintf("effects %d and %d are both for %s", before, i+1, e.Key))
		}
		first[e.Key] = i + 1
	}
	return found
}

// checkAccepted finds calls that the agency has accepted from a process that was replaced: before,
// it had accepted one with a higher token of the run.
func checkAccepted(accepted []Effect) (found []string) {
	highest := map[string]uint64{}
	for _, e := range accepted {
		if e.Token < highest[e.Scope] {
			found = append(found, fmt.Sprintf("the call of %s for %s was accepted with token %s, after one with token %s", e.By, e.Key, epoch(e.Token), epoch(highest[e.Scope])))
		}
		highest[e.Scope] = max(highest[e.Scope], e.Token)
	}
	return found
}
