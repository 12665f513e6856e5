package delivery

import "github.com/understudy-go/understudy/internal/window"

type ledger struct {
	window.Numbers
	stored uint64   // UpTo, as stored
	fresh  []uint64 // not stored, and beyond UpTo when they were settled
}

func (g *ledger) load(upTo uint64) {
	g.AddUpTo(upTo)
	g.stored = upTo
}

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

func (g *ledger) unstored() int { return int(g.UpTo()-g.stored) + len(g.fresh) }

func (g *ledger) save() (upTo uint64, beyond []uint64) {
	for _, n := range g.fresh {
		if n > g.UpTo() {
			beyond = append(beyond, n)
		}
	}
	g.stored, g.fresh = g.UpTo(), nil
	return g.stored, beyond
}
