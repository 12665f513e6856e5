//go:build linux

package main

import (
	"fmt"
	"strings"
)

// A tripRecord has all that is known of one run.
type tripRecord struct {
	Journey

	facts      []Fact
	executions []Execution     // those that begin
	told       []Execution     // those whose results the function has got
	effects    map[int]Effect  // by their numbers
	outcomes   map[string]Fact // the first ones, by the name of the step or the await
}

func newTripRecord(j Journey, facts []Fact, diary []Execution, effects map[int]Effect) tripRecord {
	t := tripRecord{Journey: j, facts: facts, effects: effects, outcomes: map[string]Fact{}}
	for _, e := range diary {
		if e.Told {
			t.told = append(t.told, e)
		} else {
			t.executions = append(t.executions, e)
		}
	}
	for _, f := range facts {
		if _, twice := t.outcomes[f.Name]; f.What == factFinished && !twice {
			t.outcomes[f.Name] = f
		}
	}
	return t
}

// check returns the contradictions between what the clients, the journal, the processes and the
// agency say about a run.
func (t tripRecord) check() (found []string) {
	found = checkFacts(t.facts)
	if t.Missing > 0 && (t.Begun || len(t.Ends) > 0) {
		found = append(found, fmt.Sprintf("it has begun, and %d answers say that it is not there", t.Missing))
	}
	if len(t.facts) == 0 {
		if t.Begun || len(t.Ends) > 0 || len(t.executions) > 0 {
			found = append(found, "it has begun, and is not in the journal")
		}
		return found
	}
	found = append(found, t.checkExecutions()...)
	found = append(found, t.checkOutcomes()...)
	found = append(found, t.checkCalls()...)
	found = append(found, t.checkEnd()...)
	return append(found, t.checkCompensations()...)
}

// checkFacts finds events that contradict each other: each outcome is stored once, and nothing
// after the end.
func checkFacts(facts []Fact) (found []string) {
	var numbers []Stored
	seen := map[string]uint64{}
	for i, f := range facts {
		numbers = append(numbers, Stored{Seq: f.Seq, Epoch: f.Epoch})
		switch f.What {
		case factBegun, factTurned, factEnded, factFinished:
			what := strings.TrimSpace(f.What + " " + f.Name)
			if before, twice := seen[what]; twice {
				found = append(found, fmt.Sprintf("it is in the journal at %d and at %d: %s", before, f.Seq, what))
			}
			seen[what] = f.Seq
		case factHeld:
			found = append(found, fmt.Sprintf("it was held: %s", f.Why))
		}
		if (i == 0) != (f.What == factBegun) {
			found = append(found, fmt.Sprintf("record %d says %q", f.Seq, f.What))
		}
		if end := seen[factEnded]; end != 0 && end != f.Seq {
			found = append(found, fmt.Sprintf("record %d says %q after the end", f.Seq, f.What))
		}
	}
	return append(found, checkJournal(numbers)...)
}

// ended returns the event with which the run ends.
func (t tripRecord) ended() (Fact, bool) { return t.first(factEnded) }

// first returns the first event of a kind.
func (t tripRecord) first(what string) (Fact, bool) {
	for _, f := range t.facts {
		if f.What == what {
			return f, true
		}
	}
	return Fact{}, false
}
