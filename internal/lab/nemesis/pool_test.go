package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPoolWritesNoValueTwice(t *testing.T) {
	var p pool
	seen := map[uint64]bool{}
	verbs := map[Verb]int{}
	for range 5000 {
		o := p.draw()
		verbs[o.Verb]++
		require.False(t, o.New != 0 && seen[o.New])
		seen[o.New] = true
	}
	require.Len(t, verbs, 3)
	require.InDelta(t, 5000/serving, p.made, inUse+1)
}

func TestAPoolReplacesARegisterOfWhichTooLittleIsKnown(t *testing.T) {
	var p pool
	for range 1000 {
		p.learn(Operation{Op: p.draw()})
	}
	for range 100 {
		p.learn(Operation{Op: p.draw(), Returned: 1, Answer: Answer{Value: 3}})
	}
	require.Greater(t, p.made, 1000/serving*2)
	for _, s := range p.slots {
		require.Less(t, s.unanswered, doubts+1)
	}
}

func TestAPoolSwapsWhatItKnows(t *testing.T) {
	var p pool
	for range 1000 {
		o := p.draw()
		if o.Verb == Swap {
			i := p.slotOf(o.Register)
			require.Equal(t, p.slots[i].last, o.Old)
		}
		p.learn(Operation{Op: o, Returned: 1, Answer: Answer{Value: o.Old}})
	}
}

func (p *pool) slotOf(name string) int {
	for i, s := range p.slots {
		if s.name == name {
			return i
		}
	}
	return -1
}
