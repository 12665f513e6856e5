package workflow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// what an event says.
type what string

const (
	begun     what = "begun"
	finished  what = "finished"  // a step, an await or a child has its outcome
	failed    what = "failed"    // an attempt of a step has failed, and another follows
	waiting   what = "waiting"   // a sleep or an await has begun
	signalled what = "signalled" // a signal has come
	turned    what = "turned"    // no further step begins: the run was cancelled or failed
	holding   what = "held"      // the run cannot go on with this program
	ended     what = "ended"
	resumed   what = "resumed" // an operator lets the run go on
	told      what = "told"    // the parent knows of the end
	asked     what = "asked"   // the parent was resumed, and wants to be told anew
)

// An event is one stored fact of a run. Which fields it has depends on What.
type event struct {
	What    what
	Name    string    `cbor:",omitempty"` // of the step or wait; which incarnation of the parent asks
	Value   value     `cbor:",omitempty"` // input, outcome, signal, or why the run has turned
	At      time.Time `cbor:",omitzero"`
	Until   time.Time `cbor:",omitzero"` // of a wait; the next attempt
	Attempt int       `cbor:",omitempty"`
	Err     string    `cbor:",omitempty"` // of an attempt that has failed
	Signal  string    `cbor:",omitempty"` // its name, also of the one for which an await has waited
	Number  uint64    `cbor:",omitempty"` // of the signal that an await has taken
	State   State     `cbor:",omitempty"` // in which the run ends
	Tag     string    `cbor:",omitempty"`
	Parent  address   `cbor:",omitzero"`
	Trace   []byte    `cbor:",omitempty"` // of the run
	Undo    []string  `cbor:",omitempty"` // compensations that the function has registered before
	By      string    `cbor:",omitempty"` // an operator
	Why     string    `cbor:",omitempty"`
}

// An address is a wait of a run.
type address struct{ Type, ID, Wait string }

func init() {
	actor.RegisterType[event]("understudy/workflow.event/1")
	actor.RegisterType[state]("understudy/workflow.state/1")
}

// state is what is stored of a run. Slices are shared by successive states: they only grow, or are
// replaced.
type state struct {
	Begun    time.Time
	Input    value
	Tag      string
	Parent   address
	Trace    []byte    // carries the span of the run, below which steps have theirs
	Outcomes []outcome // in the order in which they were stored
	Tries    []try     // of steps that have failed and will be tried again
	Waits    []wait    // that have begun: awaits until they end, and the last sleep of each branch
	Signals  []signal  // that no await has taken
	Number   uint64    // of the last signal
	Undo     []string  // compensations that the function has registered
	Redone   []redo    // steps that operators have let run anew
	Turned   turn
	Hold     hold
	End      end
	Resumes  int    `cbor:",omitempty"` // from a step
	Dropped  int    `cbor:",omitempty"` // signals, by operators
	Asked    string `cbor:",omitempty"` // which incarnation of the parent has asked last
	Told     bool
	Freed    bool // the last event has ended a hold
}

// An outcome is the result of a step, an await or a child.
type outcome struct {
	Name     string
	Value    value
	Attempts int
	At       time.Time
	Signal   string `cbor:",omitempty"` // for which an await has waited; "" of a step
	Number   uint64 `cbor:",omitempty"` // of the signal that it has taken; 0 after its time
}

// A try is a failed attempt.
type try struct {
	Name    string
	Attempt int // how many have failed
	Err     string
	Next    time.Time
}

type wait struct {
	Name   string
	Until  time.Time // zero for ever
	Signal string    // "" for a sleep
}

// key returns what a wait is known by while it is the last one: a branch has one sleep at a time.
func (w wait) key() string {
	if w.Signal != "" {
		return w.Name
	}
	return w.Name[:strings.LastIndexByte(w.Name, '#')+1]
}

// isAfter reports whether w comes after the wait of that name, which has the same key.
func (w wait) isAfter(name string) bool {
	return len(w.Name) > len(name) || len(w.Name) == len(name) && w.Name > name
}

type signal struct {
	Name   string
	Number uint64
	Value  value
}

// A redo is how often the success of a step was forgotten.
type redo struct {
	Name  string
	Times int
}

// A turn is why no further step begins.
type turn struct {
	State State // in which the run will end; "" if it has not turned
	Err   value
	At    time.Time
}

type hold struct {
	Count int // in a row; 0 if the run is not held
	Err   string
	Until time.Time
}

type end struct {
	State State // "" before the end
	Out   value
	At    time.Time
}

// apply returns the state after one more event.
func apply(s state, e event) state {
	if len(e.Undo) > 0 {
		s.Undo = append(slices.Clip(s.Undo), e.Undo...)
	}
	s.Freed = s.Hold.Count > 0 && e.What == finished
	switch e.What {
	case begun:
		s.Begun, s.Input, s.Tag, s.Parent, s.Trace, s.Asked = e.At, e.Value, e.Tag, e.Parent, e.Trace, e.Name
	case finished:
		s.Outcomes = append(s.Outcomes, outcome{Name: e.Name, Value: e.Value, Attempts: e.Attempt, At: e.At, Signal: e.Signal, Number: e.Number})
		s.Tries = without(s.Tries, func(t try) bool { return t.Name == e.Name })
		s.Waits = without(s.Waits, func(w wait) bool { return w.Name == e.Name })
		s.Signals = taken(s.Signals, e.Number)
		s.Hold = hold{}
	case failed:
		s.Tries = append(without(s.Tries, func(t try) bool { return t.Name == e.Name }), try{e.Name, e.Attempt, e.Err, e.Until})
	case waiting:
		w := wait{e.Name, e.Until, e.Signal}
		s.Waits = append(without(s.Waits, func(before wait) bool { return before.key() == w.key() }), w)
	case signalled:
		s.Number++
		s.Signals = append(replaced(s.Signals, e.Signal), signal{e.Signal, s.Number, e.Value})
	case turned:
		s.Turned, s.Hold = turn{e.State, e.Value, e.At}, hold{}
	case holding:
		s.Hold = hold{e.Attempt, e.Err, e.Until}
	case ended:
		s.End, s.Hold = end{e.State, e.Value, e.At}, hold{}
	case resumed:
		s = resume(s, e)
	case told:
		s.Told = true
	case asked:
		s.Asked, s.Told = e.Name, false
	}
	return s
}

// replaced returns the signals among which one of that name comes. The end of a child replaces an
// earlier one that nobody has taken.
func replaced(all []signal, name string) []signal {
	if !strings.HasPrefix(name, childSignal) {
		return all
	}
	return without(all, func(one signal) bool { return one.Name == name })
}

// resume returns the state in which the run goes on: attempts are due at once, and if the event
// names a step, that and all that ended after it are forgotten.
func resume(s state, e event) state {
	s.Hold, s.Tries = hold{}, slices.Clone(s.Tries)
	for i := range s.Tries {
		s.Tries[i].Next = time.Time{}
	}
	if e.Name == "" {
		return s
	}
	from := slices.IndexFunc(s.Outcomes, func(o outcome) bool { return o.Name == e.Name })
	if from >= 0 {
		forgotten := s.Outcomes[from:]
		s.Redone = redone(s.Redone, forgotten, s.undoing())
		s = s.untaken(forgotten)
		s.Outcomes = slices.DeleteFunc(slices.Clone(s.Outcomes[:from]), func(o outcome) bool {
			return slices.ContainsFunc(forgotten, func(result outcome) bool { return result.Signal == childSignal+o.Name }) // the child is asked anew
		})
	}
	s.Outcomes = without(s.Outcomes, func(o outcome) bool { return strings.HasPrefix(o.Name, compensating) })
	s.Waits = without(s.Waits, func(w wait) bool { return w.Signal != "" }) // sleeps have passed
	s.Turned, s.End, s.Told, s.Tries, s.Undo = turn{}, end{}, false, nil, nil
	s.Resumes++
	return s
}

// untaken gives back the signals that forgotten awaits have taken, except the first one of all: the
// operator has chosen that wait, and it takes another.
func (s state) untaken(forgotten []outcome) state {
	var again []signal
	for i, o := range forgotten {
		switch {
		case o.Number == 0 || strings.HasPrefix(o.Signal, childSignal): // a child is asked anew
		case i == 0:
			s.Dropped++
		default:
			again = append(again, signal{o.Signal, o.Number, o.Value})
		}
	}
	s.Signals = append(again, s.Signals...)
	return s
}

// undoing returns the compensation that is executed, if one is: the last that is not done.
func (s state) undoing() string {
	for _, name := range slices.Backward(s.Undo) {
		full := compensating + name
		if s.Turned.State != "" && !slices.ContainsFunc(s.Outcomes, func(o outcome) bool { return o.Name == full }) {
			return full
		}
	}
	return ""
}

// redone counts the steps that have succeeded and will run anew, and the compensation that was
// executed. Receivers must not take them for repetitions. A step that has failed may have had its
// effect all the same, so it keeps its key.
func redone(before []redo, forgotten []outcome, undoing string) []redo {
	names := map[string]bool{}
	if undoing != "" { // it may have undone what is done anew
		names[undoing] = true
	}
	for _, o := range forgotten {
		if o.succeeded() {
			names[o.Name] = true
		}
	}
	all := slices.Clone(before)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		i := slices.IndexFunc(all, func(r redo) bool { return r.Name == name })
		if i < 0 {
			i, all = len(all), append(all, redo{Name: name})
		}
		all[i].Times++
	}
	return all
}

// succeeded reports whether an outcome is no error. Errors and steps without a result have no type.
func (o outcome) succeeded() bool { return o.Value.Type != "" || failureOf(o.Value) == nil }

// taken returns the signals without that number, which is 0 for none. Many may wait, and the first
// one is taken most often.
func taken(all []signal, number uint64) []signal {
	switch {
	case number == 0 || len(all) == 0:
		return all
	case all[0].Number == number:
		return all[1:]
	}
	return without(all, func(one signal) bool { return one.Number == number })
}

// without returns all but those that drop selects, in another array if there are any.
func without[T any](all []T, drop func(T) bool) []T {
	if !slices.ContainsFunc(all, drop) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// same reports whether s is the state that others have seen last. It compares what is shown.
func (s state) same(seen *state) bool {
	return seen != nil && s.Begun.Equal(seen.Begun) && len(s.Outcomes) == len(seen.Outcomes) && s.Number == seen.Number &&
		s.Turned.State == seen.Turned.State && s.Hold.Count == seen.Hold.Count && s.End.State == seen.End.State
}
