package delivery

import "github.com/understudy-go/understudy/internal/window"

// A ledger tracks which numbers are settled, and which of these the queue has not stored. It is
// a pure state machine.
type ledger struct {
	window.Numbers
	stored uint64   // UpTo, as stored
	fresh  []uint64 // not stored, and beyond UpTo when they were settled
}

// load takes the number up to which all are stored as settled.
func (g *ledger) load(upTo uint64) {
	g.AddUpTo(upTo)
	g.stored = upTo
}

// settle notes the numbers from first to last.
func (g *ledger) settle(first, last uint64) {
	for n := max(first, g.UpTo()+1); n <= last; n++ {
		if g.Has(n) {
			continue
		}
		if n > g.UpTo()+1 {
			g.fresh = append(g.fresh, n)
		}
		g.Add(n)
	}
}

// unstored returns how many settled numbers are not stored.
func (g *ledger) unstored() int { return int(g.UpTo()-g.stored) + len(g.fresh) }

// save returns the settled numbers to store, and counts them as stored.
func (g *ledger) save() (upTo uint64, beyond []uint64) {
	for _, n := range g.fresh {
		if n > g.UpTo() {
			beyond = append(beyond, n)
		}
	}
	g.stored, g.fresh = g.UpTo(), nil
	return g.stored, beyond
}
