//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// compensating begins the names of compensations.
const compensating = "compensate/"

// checkCompensations finds compensations that are missing, have failed, are in a wrong order, or
// belong to a run that is done. It compares the journal and the agency.
func (t tripRecord) checkCompensations() (found []string) {
	end, ended := t.ended()
	undoes := ended && end.State != tripDone
	var registered []string
	last := -1 // the stage that was undone last
	for _, f := range t.facts {
		registered = append(registered, f.Undo...)
		name, ok := strings.CutPrefix(f.Name, compensating)
		if !ok || f.What != factFinished {
			continue
		}
		stage := stageOf(name)
		switch {
		case f.Error != "":
			found = append(found, fmt.Sprintf("%q has failed: %s", f.Name, f.Error))
		case last >= 0 && stage > last:
			found = append(found, fmt.Sprintf("%q was done after the one of stage %d", f.Name, last))
		case ended && !undoes:
			found = append(found, fmt.Sprintf("%q was done, and the run is done", f.Name))
		}
		last = stage
	}
	for _, name := range registered {
		if _, done := t.outcomes[compensating+name]; undoes && !done {
			found = append(found, fmt.Sprintf("%q was registered, and not done", name))
		}
	}
	if ended {
		found = append(found, t.checkUndone(undoes)...)
	}
	return found
}

// checkUndone finds bookings that are not undone after them, or that are undone in a wrong order,
// among the effects of a run that has ended. If undoes is false, nothing may be undone.
func (t tripRecord) checkUndone(undoes bool) (found []string) {
	undone, last := map[string]int{}, -1
	for _, n := range slices.Sorted(maps.Keys(t.effects)) {
		step := strings.TrimPrefix(t.effects[n].Key, t.keyOf(""))
		name, ok := strings.CutPrefix(step, compensating)
		if !ok {
			continue
		}
		stage := stageOf(name)
		if !undoes || last >= 0 && stage > last {
			found = append(found, fmt.Sprintf("effect %d, %q, comes after stage %d was undone, or the run is done", n, step, last))
		}
		undone[strings.Replace(name, "unbook", "book", 1)], last = n, stage
	}
	for _, n := range slices.Sorted(maps.Keys(t.effects)) {
		step := strings.TrimPrefix(t.effects[n].Key, t.keyOf(""))
		if undoes && !strings.HasPrefix(step, compensating) && undone[step] < n {
			found = append(found, fmt.Sprintf("effect %d, %q, was not undone after that", n, step))
		}
	}
	return found
}

// stageOf returns the number at the end of the name of a step.
func stageOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, ' ')+1:])
	if err != nil {
		return -1
	}
	return n
}
