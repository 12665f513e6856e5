package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync"
)

const (
	// inUse is how many are in use at a time.
	inUse = 4

	// A register is replaced by a new one after so many operations, or so many without an answer.
	// Each unanswered operation may have taken effect at any later time, which makes the check
	// slower.
	serving = 200
	doubts  = 5
)

// writingShare is how many of a hundred operations write; a test changes it.
var writingShare = 50

// A pool generates operations. It is safe for concurrent use.
type pool struct {
	mu    sync.Mutex // guards the following
	slots [inUse]slot
	made  int    // registers so far
	value uint64 // the last to be written
}

// A slot is a register in use.
type slot struct {
	name       string
	last       uint64 // as far as is known
	operations int
	unanswered int
}

// draw generates an operation.
func (p *pool) draw() Op {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.slots[rand.IntN(inUse)]
	if s.name == "" || s.operations >= serving || s.unanswered >= doubts {
		p.made++
		*s = slot{name: fmt.Sprintf("r%d", p.made)}
	}
	s.operations++
	o := Op{Verb: Get, Register: s.name}
	if rand.IntN(100) >= writingShare {
		return o
	}
	p.value++
	o.Verb, o.New = Put, p.value
	if rand.IntN(2) == 0 {
		o.Verb, o.Old = Swap, s.last
	}
	return o
}

// learn records the result of an operation.
func (p *pool) learn(o Operation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.slots {
		s := &p.slots[i]
		switch {
		case s.name != o.Op.Register:
		case o.answered():
			s.last = cmp.Or(eventOf(o.Op, o.Answer.Value).Value, o.Answer.Value)
		case o.Op.Verb != Get:
			s.unanswered++
		}
	}
}
