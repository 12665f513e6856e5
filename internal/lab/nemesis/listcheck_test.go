package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

// called is a visit that was sent at from and answered at to, in seconds, when the list was as
// given; to is 0 when it was not answered.
func called(e Entry, from, to int, list ...Entry) Call {
	c := Call{List: "l", Entry: e, Invoked: time.Duration(from) * time.Second, Returned: time.Duration(to) * time.Second}
	if to > 0 {
		c.Content = Content{Sum: sumOf(stored(list...)), Generation: singleton.Generation{Term: 0}}
	}
	return c
}

func TestListsThatCanBe(t *testing.T) {
	looked := Stored{Seq: 3, Epoch: 1}
	for name, calls := range map[string][]Call{
		"one after the other": {called(a1, 1, 2, a1), called(Entry{}, 3, 4, a1), called(b1, 5, 6, a1, b1), called(Entry{}, 7, 8, a1, b1)},
		"at the same time":    {called(b1, 1, 9, a1, b1), called(a1, 2, 8, a1), called(Entry{}, 3, 4, a1), called(Entry{}, 3, 4), called(Entry{}, 5, 6, a1, b1)},
		"no answers":          {called(a1, 1, 0), called(Entry{}, 2, 3), called(b1, 4, 0), called(Entry{}, 5, 6, a1), called(Entry{}, 5, 0), called(a2, 6, 0)},
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, checkList(calls, append(stored(a1, b1), looked))) })
	}
}

func TestListsThatCannotBe(t *testing.T) {
	journal := stored(a1, b1)
	good := []Call{called(a1, 1, 2, a1), called(b1, 3, 4, a1, b1)}
	for want, calls := range map[string][]Call{
		"{a 2} was acknowledged at 6s and is not in the journal":                                               append(slices.Clone(good), called(a2, 5, 6, a1, b1)),
		"at 6s it had 3 entries, of 2 in the end":                                                              append(slices.Clone(good), called(Entry{}, 5, 6, a1, b1, a2)),
		"at 6s it had other entries than the first 1 of the journal":                                           append(slices.Clone(good), called(Entry{}, 5, 6, b1)),
		"a read (sent at 5s, answered at 6s by generation 0.0: 1 entries) contradict the order of the journal": append(slices.Clone(good), called(Entry{}, 5, 6, a1)),
		"{b 1} was acknowledged at place 1 and stands at 2":                                                    {good[0], called(b1, 1, 4, b1)},
		"{b 1} is in the journal at 2, and nobody has sent it":                                                 good[:1],
	} {
		require.Contains(t, fmt.Sprint(checkList(calls, journal)), want)
	}
	require.Contains(t, fmt.Sprint(checkList(good, stored(a1, b1, a1))), "{a 1} is in the journal at 1 and at 3")
	late := stored(a1, b1)
	late[1].Epoch = 7<<32 + 1
	require.Equal(t, []string{"{b 1} was acknowledged by generation 0, and written by 7"}, checkList(good, late))
}

// wholeList is the sequential specification of a list: its entries.
var wholeList = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		c := input.(porcupineCall)
		after := state.(string)
		if !c.reads() {
			after += fmt.Sprint(c.Entry)
		}
		return c.said == nil || *c.said == after, after
	},
}

// A porcupineCall is a call with the list that it was answered, or nil.
type porcupineCall struct {
	Call

	said *string
}

// Short histories, most of them with mistakes, for which the check of lists and porcupine must say
// the same.
func TestTheCheckOfListsAgreesWithPorcupine(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := rand.New(rand.NewPCG(seed, 0))
	linearizable := 0
	const histories = 3000
	for range histories {
		calls, entries := randomHistory(d)
		var whole []porcupine.Operation
		for i, c := range calls {
			p := porcupineCall{Call: c}
			returned := int64(time.Hour)
			if c.answered() {
				said := textOf(entries[:c.Content.Sum.Length])
				p.said, returned = &said, int64(c.Returned)
			} else if c.reads() {
				continue
			}
			whole = append(whole, porcupine.Operation{ClientId: i, Input: p, Call: int64(c.Invoked), Return: returned})
		}
		all := textOf(entries)
		whole = append(whole, porcupine.Operation{ClientId: len(calls), Input: porcupineCall{said: &all}, Call: int64(2 * time.Hour), Return: int64(3 * time.Hour)})
		is := porcupine.CheckOperations(wholeList, whole)
		found := checkList(calls, stored(entries...))
		require.Equal(t, is, len(found) == 0, "%v\n%v\n%v", calls, entries, found)
		if is {
			linearizable++
		}
	}
	require.Greater(t, linearizable, histories/20)
	require.Less(t, linearizable, histories*19/20)
}

func textOf(entries []Entry) (text string) {
	for _, e := range entries {
		text += fmt.Sprint(e)
	}
	return text
}

// randomHistory returns calls and the list in the end: each visit happens at some moment between
// its start and its end, but some answers are then changed.
func randomHistory(d *rand.Rand) (calls []Call, entries []Entry) {
	order := make([]int, 2+d.IntN(5)) // the moments of the visits
	for i := range order {
		order[i] = 10 + 10*i
	}
	for i, at := range order {
		c := Call{Invoked: time.Duration(at - d.IntN(25)), Returned: time.Duration(at + 1 + d.IntN(25))}
		if d.IntN(2) == 0 {
			c.Entry = Entry{Client: "c", N: uint64(i) + 1}
			entries = append(entries, c.Entry)
		}
		c.Content.Sum = sumOf(stored(entries...))
		calls = append(calls, c)
	}
	for i := range calls {
		switch c := &calls[i]; d.IntN(5) {
		case 0:
			c.Returned, c.Content = 0, Content{}
		case 1:
			if c.reads() {
				c.Content.Sum = sumOf(stored(entries[:d.IntN(len(entries)+1)]...))
			}
		case 2:
			c.Invoked += 20
			c.Returned += 20
		}
	}
	d.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	return calls, entries
}
