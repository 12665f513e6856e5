//go:build linux

package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checkExecutions finds steps that have run again although their outcome is stored.
//
// The token of an execution is the epoch of the claim of its incarnation. The journal refuses an
// incarnation once there is a higher epoch, so an incarnation with a higher epoch than the outcome
// has read the outcome, and one with the same epoch has stored it. Neither may execute the step
// again, whatever clocks say. One with a lower epoch was replaced, and may not know it, for example
// because its process was stopped. It is for the agency to refuse it.
func (t tripRecord) checkExecutions() (found []string) {
	end, _ := t.ended()
	firstTold := t.firstTold()
	for _, e := range t.executions {
		if why := t.again(e, firstTold); why != "" {
			found = append(found, fmt.Sprintf("%v ran again: %s", e, why))
		}
		if _, stored := t.outcomes[e.Step]; !stored && end.State == tripDone {
			found = append(found, fmt.Sprintf("%v has no outcome, and the run is done", e))
		}
	}
	return slices.Concat(found, t.checkAttempts(), t.checkTokens())
}

// again returns why an execution must not have begun, or "".
func (t tripRecord) again(e Execution, firstTold map[string]time.Duration) string {
	outcome, stored := t.outcomes[e.Step]
	told, known := firstTold[e.Step]
	switch {
	case stored && e.Token > outcome.Epoch:
		return "the outcome was stored with epoch " + epoch(outcome.Epoch)
	case stored && e.Token == outcome.Epoch && known && e.At > told:
		return fmt.Sprintf("the function was told of the outcome at %v", told)
	}
	return ""
}

// late reports whether an execution of a process that was replaced began after the step was
// completed.
func (t tripRecord) late(e Execution, firstTold map[string]time.Duration) bool {
	told, known := firstTold[e.Step]
	return known && e.At > told && e.Token < t.outcomes[e.Step].Epoch
}

// firstTold returns when the function was first told of the outcome of each step.
func (t tripRecord) firstTold() map[string]time.Duration {
	first := map[string]time.Duration{}
	for _, e := range t.told {
		if at, known := first[e.Step]; !known || e.At < at {
			first[e.Step] = e.At
		}
	}
	return first
}

// checkAttempts finds incarnations that have executed a step more often than they have stored what
// became of it. The last execution of an incarnation may have stored nothing.
func (t tripRecord) checkAttempts() (found []string) {
	for _, k := range t.incarnations() {
		n, allowed := k.executions, k.failed+1
		if n > allowed {
			found = append(found, fmt.Sprintf("%q was executed %d times with token %s, and %d attempts have failed", k.step, n, epoch(k.token), k.failed))
		}
	}
	return found
}

// checkTokens finds tokens that two processes have: a claim belongs to one.
func (t tripRecord) checkTokens() (found []string) {
	holder := map[uint64]string{}
	for _, e := range t.executions {
		if of, known := holder[e.Token]; known && of != e.process() {
			found = append(found, fmt.Sprintf("%v has the token of %s", e, of))
		}
		holder[e.Token] = e.process()
	}
	return found
}

// An attempts is how often one incarnation of a run has executed a step.
type attempts struct {
	step               string
	token              uint64
	executions, failed int
}

// incarnations returns the attempts of each incarnation at each step, in order.
func (t tripRecord) incarnations() []attempts {
	type key struct {
		step  string
		token uint64
	}
	all := map[key]attempts{}
	for _, e := range t.executions {
		k := key{e.Step, e.Token}
		all[k] = attempts{e.Step, e.Token, all[k].executions + 1, 0}
	}
	for _, f := range t.facts {
		k := key{f.Name, f.Epoch}
		if a, ok := all[k]; ok && f.What == factFailed {
			a.failed++
			all[k] = a
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b attempts) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.token, b.token))
	})
}

// refusal is in the error of an execution whose process was replaced. Such a process can store
// nothing.
var refusal = strconv.Itoa(http.StatusPreconditionFailed)

// checkOutcomes finds outcomes that nobody has executed, and those of which the function or the
// agency knows something else.
func (t tripRecord) checkOutcomes() (found []string) {
	for _, name := range slices.Sorted(maps.Keys(t.outcomes)) {
		o := t.outcomes[name]
		if strings.Contains(o.Error, refusal) {
			found = append(found, fmt.Sprintf("the outcome of %q is that its process was replaced: %s", name, o.Error))
		}
		if o.Booking == (Booking{}) {
			continue // an await, a compensation or an error
		}
		if e := t.execution(o.Booking.By); o.Booking.Step != name || e.Step != name || !t.mayStore(e, o) {
			found = append(found, fmt.Sprintf("the outcome of %q is %v, stored with epoch %s, and its execution is %v", name, o.Booking, epoch(o.Epoch), e))
		}
		if effect, ok := t.effects[o.Booking.Effect]; !ok || effect.Key != t.keyOf(name) {
			found = append(found, fmt.Sprintf("the outcome of %q is effect %d, which is %v", name, o.Booking.Effect, effect))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(t.effects)) {
		effect := t.effects[n]
		if e := t.execution(effect.By); e.Token != effect.Token || t.keyOf(e.Step) != effect.Key {
			found = append(found, fmt.Sprintf("effect %d is %v, and its execution is %v", n, effect, e))
		}
	}
	for _, e := range t.told {
		if got := (Booking{e.Step, e.Effect, e.By}); t.outcomes[e.Step].Booking != got {
			found = append(found, fmt.Sprintf("at %v the function was told %v, and the journal has %v", e.At, got, t.outcomes[e.Step].Booking))
		}
	}
	return found
}

// mayStore reports whether the incarnation that has stored an outcome may have it from an
// execution: its own, or one of an incarnation before in the same process that could not store it.
func (t tripRecord) mayStore(e Execution, o Fact) bool {
	if e.Token == o.Epoch {
		return true
	}
	for _, other := range t.executions {
		if other.Token == o.Epoch && (other.Step == e.Step || other.process() != e.process()) {
			return false
		}
	}
	return e.Token < o.Epoch
}

// execution returns the execution with a name.
func (t tripRecord) execution(by string) Execution {
	i := slices.IndexFunc(t.executions, func(e Execution) bool { return e.By == by })
	if i < 0 {
		return Execution{}
	}
	return t.executions[i]
}

// keyOf returns the idempotency key of a step.
func (t tripRecord) keyOf(step string) string { return tripType + "/" + t.ID + "/" + step }

// process returns the process of an execution.
func (e Execution) process() string {
	process, _, _ := strings.Cut(e.By, "/")
	return process
}

// String describes where and when an execution began.
func (e Execution) String() string {
	return fmt.Sprintf("%q by %s with token %s at %v", e.Step, e.By, epoch(e.Token), e.At)
}

// epoch writes an epoch or a token as the generation of its shard and a number.
func epoch(e uint64) string { return fmt.Sprintf("%d.%d", e>>32, e&(1<<32-1)) }
