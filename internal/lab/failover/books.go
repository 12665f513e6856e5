package failover

import (
	"fmt"
	"time"
)

// books are the records of the director.
type books struct {
	acks       map[ID]int // how often each increment was acknowledged
	last       Ack
	lastAt     time.Time
	host       string
	generation string
	fenced     int // writes that the journal refused
	final      *Counted
	stopped    map[*nodeRun]bool
}

func newBooks() *books {
	return &books{acks: make(map[ID]int), stopped: make(map[*nodeRun]bool)}
}

func (b *books) acknowledged(a Ack) {
	b.acks[a.ID]++
	b.last, b.lastAt = a, time.Now()
}

// check compares the final state, and its journal, with every acknowledged increment, by ID.
func (b *books) check(state Counted, journal []ID) error {
	counted := make(map[ID]int)
	for _, id := range state.Applied {
		counted[id]++
	}
	for id := range b.acks {
		if counted[id] != 1 {
			return fmt.Errorf("increment %v was acknowledged and counted %d times", id, counted[id])
		}
	}
	for id, n := range counted {
		if n != 1 {
			return fmt.Errorf("increment %v was counted %d times", id, n)
		}
	}
	if len(journal) != len(state.Applied) {
		return fmt.Errorf("the state has %d increments, the journal %d", len(state.Applied), len(journal))
	}
	for i, id := range journal {
		if state.Applied[i] != id {
			return fmt.Errorf("increment %d is %v in the state and %v in the journal", i+1, state.Applied[i], id)
		}
	}
	return nil
}
