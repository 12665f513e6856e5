package delivery

// A ledger knows which numbers have been confirmed, and which of that is not stored. It is
// pure.
type ledger struct {
	upTo   uint64              // all up to this number have been confirmed
	beyond map[uint64]struct{} // and these
	stored uint64              // upTo, as is stored
	fresh  []uint64            // of beyond, or before upTo by now, and not stored
}

// load takes what is stored.
func (g *ledger) load(upTo uint64) { g.upTo, g.stored = upTo, upTo }

// has notes a number that is stored as confirmed.
func (g *ledger) has(number uint64) {
	if number == g.upTo+1 {
		g.advance()
		return
	}
	if g.beyond == nil {
		g.beyond = make(map[uint64]struct{})
	}
	g.beyond[number] = struct{}{}
}

// confirm notes the numbers from first to last.
func (g *ledger) confirm(first, last uint64) {
	for n := max(first, g.upTo+1); n <= last; n++ {
		if _, known := g.beyond[n]; known {
			continue
		}
		if n > g.upTo+1 {
			g.fresh = append(g.fresh, n)
		}
		g.has(n)
	}
}

// advance counts the number after upTo as confirmed, and those that follow and are.
func (g *ledger) advance() {
	g.upTo++
	for {
		if _, ok := g.beyond[g.upTo+1]; !ok {
			return
		}
		g.upTo++
		delete(g.beyond, g.upTo)
	}
}

// unsaved is how many confirmations are not stored.
func (g *ledger) unsaved() int { return int(g.upTo-g.stored) + len(g.fresh) }

// save returns what is to be stored, as if it were.
func (g *ledger) save() (upTo uint64, beyond []uint64) {
	for _, n := range g.fresh {
		if n > g.upTo {
			beyond = append(beyond, n)
		}
	}
	g.stored, g.fresh = g.upTo, nil
	return g.upTo, beyond
}
