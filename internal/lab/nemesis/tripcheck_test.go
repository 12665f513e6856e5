//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sec returns a time in seconds.
func sec(n int) time.Duration { return time.Duration(n) * time.Second }

// A tripStory is what is known of a run, before it is changed by a test.
type tripStory struct {
	Journey

	facts   []Fact
	diary   []Execution
	effects map[int]Effect
}

func (s tripStory) check() []string {
	return newTripRecord(s.Journey, s.facts, s.diary, s.effects).check()
}

// number gives facts their numbers.
func number(facts []Fact) []Fact {
	for i := range facts {
		facts[i].Seq = uint64(i) + 1
	}
	return facts
}

// effect returns an effect for a step of the run t1.
func effect(step string, token uint64, by string) Effect {
	return Effect{Key: "trip/t1/" + step, Scope: "trip|t1", Token: token, By: by}
}

// doneTrip is a run of two stages, the second with two parts. Incarnation 1 makes the first booking
// and dies with its outcome stored. The process of incarnation 2 is stopped, and replaced by
// incarnation 3. When it goes on, it begins the step "stage 1/0/book 1".
func doneTrip() tripStory {
	first := Booking{"book 0", 1, "a/1"}
	left, right := Booking{"stage 1/0/book 1", 3, "c/1"}, Booking{"stage 1/1/book 1", 2, "b/2"}
	bill := Bill{[]Booking{first, left, right}, []string{"one"}}
	return tripStory{
		Journey: Journey{
			ID: "t1", Trip: Trip{Stages: []Stage{{Naps: []time.Duration{0}, Call: sec(1)}, {Naps: []time.Duration{0, 0}}}}, Begun: true,
			Calls: []Sent{{"one", sec(1), sec(2)}, {"two", sec(3), sec(4)}},
			Ends:  []TripReply{{State: tripDone, Bill: bill}, {State: tripDone, Bill: bill}},
		},
		facts: number([]Fact{
			{What: factBegun, Epoch: 1},
			{What: factSignalled, Epoch: 1, Text: "one"},
			{What: factFailed, Epoch: 1, Name: "book 0", Undo: []string{"unbook 0"}},
			{What: factFinished, Epoch: 1, Name: "book 0", Booking: first},
			{What: factFinished, Epoch: 2, Name: "call#1", Number: 1, Text: "one"},
			{What: factSignalled, Epoch: 2, Text: "two"},
			{What: factFinished, Epoch: 2, Name: "stage 1/1/book 1", Booking: right, Undo: []string{"stage 1/0/unbook 1", "stage 1/1/unbook 1"}},
			{What: factFinished, Epoch: 3, Name: "stage 1/0/book 1", Booking: left},
			{What: factEnded, Epoch: 3, State: tripDone, Bill: bill},
		}),
		diary: []Execution{
			{At: sec(1), Run: "t1", Step: "book 0", Token: 1, By: "a/0"},
			{At: sec(2), Run: "t1", Step: "book 0", Token: 1, By: "a/1"},
			{At: sec(3), Run: "t1", Step: "book 0", By: "a/1", Effect: 1, Told: true},
			{At: sec(4), Run: "t1", Step: "book 0", By: "a/1", Effect: 1, Told: true},
			{At: sec(5), Run: "t1", Step: "stage 1/1/book 1", Token: 2, By: "b/2"},
			{At: sec(8), Run: "t1", Step: "stage 1/0/book 1", Token: 3, By: "c/1"},
			{At: sec(9), Run: "t1", Step: "stage 1/0/book 1", By: "c/1", Effect: 3, Told: true},
			{At: sec(10), Run: "t1", Step: "stage 1/0/book 1", Token: 2, By: "b/1"}, // and is refused
		},
		effects: map[int]Effect{1: effect("book 0", 1, "a/1"), 2: effect("stage 1/1/book 1", 2, "b/2"), 3: effect("stage 1/0/book 1", 3, "c/1")},
	}
}

// cancelledTrip is a run that is cancelled during its second booking.
func cancelledTrip() tripStory {
	return tripStory{
		Journey: Journey{
			ID: "t1", Trip: Trip{Stages: []Stage{{Naps: []time.Duration{0}}, {Naps: []time.Duration{0}}, {Naps: []time.Duration{0}}}}, Begun: true,
			Cancelling: true, Cancelled: true, Ends: []TripReply{{State: tripCancelled}},
		},
		facts: number([]Fact{
			{What: factBegun, Epoch: 1},
			{What: factFinished, Epoch: 1, Name: "book 0", Booking: Booking{"book 0", 1, "a/1"}, Undo: []string{"unbook 0"}},
			{What: factTurned, Epoch: 1, State: tripCancelled, Undo: []string{"unbook 1"}},
			{What: factFinished, Epoch: 2, Name: "compensate/unbook 1"},
			{What: factFinished, Epoch: 2, Name: "compensate/unbook 0"},
			{What: factEnded, Epoch: 2, State: tripCancelled},
		}),
		diary: []Execution{
			{At: sec(1), Run: "t1", Step: "book 0", Token: 1, By: "a/1"},
			{At: sec(2), Run: "t1", Step: "book 0", By: "a/1", Effect: 1, Told: true},
			{At: sec(3), Run: "t1", Step: "book 1", Token: 1, By: "a/2"},
			{At: sec(4), Run: "t1", Step: "compensate/unbook 1", Token: 2, By: "b/1"},
			{At: sec(5), Run: "t1", Step: "compensate/unbook 0", Token: 2, By: "b/2"},
		},
		effects: map[int]Effect{
			1: effect("book 0", 1, "a/1"), 2: effect("book 1", 1, "a/2"),
			5: effect("compensate/unbook 1", 2, "b/1"), 7: effect("compensate/unbook 0", 2, "b/2"),
		},
	}
}

func TestTripsThatCanBe(t *testing.T) {
	require.Empty(t, doneTrip().check())
	require.Empty(t, cancelledTrip().check())
	kept := doneTrip()
	kept.fact("stage 1/0/book 1").Epoch, kept.facts[8].Epoch = 4, 4
	require.Empty(t, kept.check(), "incarnation 3 could not store the outcome, and the next one of its process has")
	unknown := tripStory{Journey: Journey{ID: "t1", Missing: 1}}
	require.Empty(t, unknown.check(), "its begin was not acknowledged")
}

// planted has mistakes in a story, by what is found of them.
type planted map[string]func(s *tripStory)

func (p planted) areFound(t *testing.T, good func() tripStory) {
	t.Helper()
	for want, plant := range p {
		s := good()
		plant(&s)
		require.Contains(t, strings.Join(s.check(), "\n"), want)
	}
}

// fact returns the fact with a name.
func (s *tripStory) fact(name string) *Fact {
	return &s.facts[slices.IndexFunc(s.facts, func(f Fact) bool { return f.Name == name })]
}

// drop removes the fact with a name.
func (s *tripStory) drop(name string) {
	s.facts = number(slices.DeleteFunc(s.facts, func(f Fact) bool { return f.Name == name }))
}

// add appends facts before the end.
func (s *tripStory) add(facts ...Fact) {
	s.facts = number(slices.Insert(s.facts, len(s.facts)-1, facts...))
}

func (s *tripStory) execute(at int, step string, token uint64, by string) {
	s.diary = append(s.diary, Execution{At: sec(at), Run: "t1", Step: step, Token: token, By: by})
}

func TestStepsThatRunAgainAreFound(t *testing.T) {
	planted{
		`"book 0" by c/3 with token 0.3 at 7s ran again: the outcome was stored with epoch 0.1`: func(s *tripStory) {
			s.execute(7, "book 0", 3, "c/3")
			s.add(Fact{What: factFinished, Epoch: 3, Name: "book 0", Booking: Booking{"book 0", 1, "c/3"}})
		},
		`"book 0" by c/2 with token 0.3 at 1s ran again: the outcome was stored with epoch 0.1`: func(s *tripStory) {
			s.execute(1, "book 0", 3, "c/2")
		},
		`"book 0" by a/2 with token 0.1 at 4s ran again: the function was told of the outcome at 3s`: func(s *tripStory) {
			s.execute(4, "book 0", 1, "a/2")
		},
		`"stage 1/0/book 1" was executed 2 times with token 0.3, and 0 attempts have failed`: func(s *tripStory) {
			s.execute(7, "stage 1/0/book 1", 3, "c/3")
		},
		`"book 2" by c/4 with token 0.3 at 9s has no outcome, and the run is done`: func(s *tripStory) {
			s.execute(9, "book 2", 3, "c/4")
		},
	}.areFound(t, doneTrip)
}

func TestOutcomesThatNobodyHasReturnedAreFound(t *testing.T) {
	planted{
		`the outcome of "stage 1/0/book 1" is {stage 1/0/book 1 3 c/1}, stored with epoch 0.2`: func(s *tripStory) {
			s.fact("stage 1/0/book 1").Epoch = 2
		},
		`the outcome of "book 0" is that its process was replaced: 412`: func(s *tripStory) { s.facts[3].Error = "412 Precondition Failed" },
		`the outcome of "stage 1/0/book 1" is {stage 1/0/book 1 3 c/1}, stored with epoch 0.4`: func(s *tripStory) {
			s.fact("stage 1/0/book 1").Epoch, s.facts[8].Epoch = 4, 4
			s.execute(11, "stage 1/0/book 1", 4, "c/2")
		},
		`"book 0" by b/7 with token 0.1 at 1s has the token of a`: func(s *tripStory) { s.execute(1, "book 0", 1, "b/7") },
		`the outcome of "book 0" is effect 9`:                     func(s *tripStory) { s.facts[3].Booking.Effect = 9 },
		`at 3s the function was told {book 0 7 a/1}, and the journal has {book 0 1 a/1}`: func(s *tripStory) {
			s.diary[2].Effect = 7
		},
		`effect 2 is {trip/t1/stage 1/1/book 1 trip|t1 1 b/2}, and its execution is`: func(s *tripStory) {
			s.effects[2] = effect("stage 1/1/book 1", 1, "b/2")
		},
	}.areFound(t, doneTrip)
}

func TestEventsThatContradictEachOtherAreFound(t *testing.T) {
	planted{
		"it is in the journal at 4 and at 9: finished book 0": func(s *tripStory) {
			s.add(Fact{What: factFinished, Epoch: 3, Name: "book 0"})
		},
		"it was held: no": func(s *tripStory) { s.add(Fact{What: factHeld, Epoch: 3, Why: "no"}) },
		`record 10 says "finished" after the end`: func(s *tripStory) {
			s.facts = number(append(s.facts, Fact{What: factFinished, Epoch: 3, Name: "late"}))
		},
		"record 9 was written in epoch 2, after a record of epoch 3": func(s *tripStory) { s.facts[8].Epoch = 2 },
		"it has begun, and is not in the journal":                    func(s *tripStory) { s.facts = nil },
		`record 1 says "signalled"`:                                  func(s *tripStory) { s.facts = number(s.facts[1:]) },
		"it has begun, and 1 answers say that it is not there":       func(s *tripStory) { s.Missing = 1 },
	}.areFound(t, doneTrip)
}

func TestEndsThatContradictTheStepsAreFound(t *testing.T) {
	planted{
		"it has not ended": func(s *tripStory) { s.facts = s.facts[:8] },
		"it is done, although it fails or was cancelled":     func(s *tripStory) { s.Cancelled = true },
		"it has failed: broken":                              func(s *tripStory) { s.facts[8].State, s.facts[8].Error = tripFailed, "broken" },
		"it was cancelled, which nobody has asked for":       func(s *tripStory) { s.facts[8].State = tripCancelled },
		"its result is {[] []}, and its steps have returned": func(s *tripStory) { s.facts[8].Bill = Bill{} },
		"a client was told the result {failed {[] []}}, and": func(s *tripStory) { s.Ends[1] = TripReply{State: tripFailed} },
		"its result is {[{book 0 1 a/1} {stage 1/0/book 1 3 c/1} {stage 1/1/book 1 2 b/2}] [one]}, and its steps have returned {[{ 0 }": func(s *tripStory) {
			s.drop("book 0")
		},
	}.areFound(t, doneTrip)
}

func TestCallsThatAreLostOrGotTwiceAreFound(t *testing.T) {
	planted{
		`call "two" was acknowledged, and is not in the journal`: func(s *tripStory) { s.facts[5].Text = "one" },
		`call "one" is in the journal as number 1 and 2`:         func(s *tripStory) { s.facts[5].Text = "one" },
		`call "three" is in the journal, and nobody has sent it`: func(s *tripStory) { s.facts[5].Text = "three" },
		`call "one" was acknowledged before "two" was sent, and comes later`: func(s *tripStory) {
			s.facts[1].Text, s.facts[5].Text = "two", "one"
		},
		`call#1 has got call 2, "two", in place of number 1`: func(s *tripStory) {
			s.fact("call#1").Number, s.fact("call#1").Text = 2, "two"
		},
		`call#2 has got call 1, "one", in place of number 2`: func(s *tripStory) {
			s.add(Fact{What: factFinished, Epoch: 3, Name: "call#2", Number: 1, Text: "one"})
		},
	}.areFound(t, doneTrip)
}

func TestCompensationsThatAreMissingOrInAWrongOrderAreFound(t *testing.T) {
	planted{
		`"unbook 1" was registered, and not done`:  func(s *tripStory) { s.drop("compensate/unbook 1") },
		`"compensate/unbook 1" has failed: broken`: func(s *tripStory) { s.fact("compensate/unbook 1").Error = "broken" },
		`"compensate/unbook 1" was done after the one of stage 0`: func(s *tripStory) {
			s.facts[3], s.facts[4] = s.facts[4], s.facts[3]
		},
		`effect 2, "book 1", was not undone after that`: func(s *tripStory) { delete(s.effects, 5) },
		`effect 6, "book 1", was not undone after that`: func(s *tripStory) { s.effects[6] = effect("book 1", 1, "a/2") },
		`effect 8, "compensate/unbook 1", comes after stage 0 was undone`: func(s *tripStory) {
			s.effects[8] = s.effects[5]
			delete(s.effects, 5)
		},
	}.areFound(t, cancelledTrip)
	planted{
		`"compensate/unbook 0" was done, and the run is done`: func(s *tripStory) {
			s.add(Fact{What: factFinished, Epoch: 3, Name: "compensate/unbook 0"})
		},
		`effect 9, "compensate/unbook 0", comes after stage -1 was undone, or the run is done`: func(s *tripStory) {
			s.effects[9] = effect("compensate/unbook 0", 3, "c/9")
		},
	}.areFound(t, doneTrip)
}

func TestEffectsForTheDeadAndDuplicatesAreFound(t *testing.T) {
	s := cancelledTrip()
	var good []Effect
	for _, n := range slices.Sorted(maps.Keys(s.effects)) {
		good = append(good, s.effects[n])
	}
	require.Empty(t, checkEffects(good))
	require.Equal(t, []string{"effects 1 and 5 are both for trip/t1/book 0"}, checkEffects(append(good, effect("book 0", 2, "b/3"))))
	require.Empty(t, checkAccepted(good))
	require.Equal(t, []string{"the call of a/3 for trip/t1/book 0 was accepted with token 0.1, after one with token 0.2"},
		checkAccepted(append(good, effect("book 0", 1, "a/3"))), "a repetition, too")
}

func TestTheFiguresOfRuns(t *testing.T) {
	var sum tripSum
	for _, s := range []tripStory{doneTrip(), cancelledTrip()} {
		sum.add(newTripRecord(s.Journey, s.facts, s.diary, s.effects))
	}
	require.Equal(t, "2 runs by 5 incarnations of 1 generations: 2 acknowledged, 1 done, 0 failed, 1 cancelled; 2 calls acknowledged, 1 of them before they were awaited\n"+
		"6 steps in 9 executions: 2 repeated or given up, as their process was lost before the outcome was stored; 1 begun after that, by processes that were replaced; completed steps that ran again: 0", fmt.Sprint(sum))
}
