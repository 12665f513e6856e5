//go:build linux

package main

import (
	"fmt"
	"reflect"
	"slices"
)

// checkEnd finds ends that differ from the steps, from the input, or from what clients were told.
func (t tripRecord) checkEnd() (found []string) {
	end, ok := t.ended()
	if !ok {
		if t.Begun || len(t.Ends) > 0 {
			found = append(found, "it has not ended")
		}
		return found
	}
	switch {
	case end.State == tripDone && (t.Trip.Fails || t.Cancelled):
		found = append(found, "it is done, although it fails or was cancelled")
	case end.State == tripFailed && !t.Trip.Fails:
		found = append(found, fmt.Sprintf("it has failed: %s", end.Error))
	case end.State == tripCancelled && !t.Cancelling:
		found = append(found, "it was cancelled, which nobody has asked for")
	case end.State == tripDone:
		if want := t.bill(); !reflect.DeepEqual(end.Bill, want) {
			found = append(found, fmt.Sprintf("its result is %v, and its steps have returned %v", end.Bill, want))
		}
	}
	for _, said := range t.Ends {
		if want := (TripReply{State: end.State, Bill: end.Bill}); !reflect.DeepEqual(said, want) {
			found = append(found, fmt.Sprintf("a client was told the result %v, and the journal has %v", said, want))
		}
	}
	return found
}

// bill returns the result that follows from the outcomes of steps and awaits.
func (t tripRecord) bill() (b Bill) {
	calls := 0
	for i, s := range t.Trip.Stages {
		for part := range s.Naps {
			name := fmt.Sprintf("book %d", i)
			if len(s.Naps) > 1 {
				name = fmt.Sprintf("stage %d/%d/book %d", i, part, i)
			}
			b.Bookings = append(b.Bookings, t.outcomes[name].Booking)
		}
		if s.Call > 0 {
			calls++
			b.Calls = append(b.Calls, t.outcomes[fmt.Sprintf("%s#%d", callName, calls)].Text)
		}
	}
	return b
}

// early returns how many calls awaits have got that had come before.
func (t tripRecord) early() (n int) {
	waited := map[string]bool{}
	for _, f := range t.facts {
		switch {
		case f.What == factWaiting:
			waited[f.Name] = true
		case f.What == factFinished && f.Number > 0 && !waited[f.Name]:
			n++
		}
	}
	return n
}

// checkCalls finds calls that were lost or stored twice, or that awaits have got twice or in
// another order.
func (t tripRecord) checkCalls() (found []string) {
	var stored []string // by their numbers, from 1
	var got []Fact      // by awaits
	for _, f := range t.facts {
		switch {
		case f.What == factSignalled:
			stored = append(stored, f.Text)
		case f.What == factFinished && f.Number > 0:
			got = append(got, f)
		}
	}
	places := map[string]int{}
	for i, text := range stored {
		if before := places[text]; before > 0 {
			found = append(found, fmt.Sprintf("call %q is in the journal as number %d and %d", text, before, i+1))
		}
		places[text] = i + 1
		if !slices.ContainsFunc(t.Calls, func(s Sent) bool { return s.Text == text }) {
			found = append(found, fmt.Sprintf("call %q is in the journal, and nobody has sent it", text))
		}
	}
	for i, s := range t.Calls {
		if s.acked() && places[s.Text] == 0 {
			found = append(found, fmt.Sprintf("call %q was acknowledged, and is not in the journal", s.Text))
		}
		for _, later := range t.Calls[i+1:] {
			if s.acked() && places[later.Text] > 0 && s.Returned < later.Invoked && places[later.Text] < places[s.Text] {
				found = append(found, fmt.Sprintf("call %q was acknowledged before %q was sent, and comes later", s.Text, later.Text))
			}
		}
	}
	for i, f := range got {
		if want := uint64(i) + 1; f.Number != want || want > uint64(len(stored)) || f.Text != stored[i] {
			found = append(found, fmt.Sprintf("%s has got call %d, %q, in place of number %d of %q", f.Name, f.Number, f.Text, want, stored))
		}
	}
	return found
}
