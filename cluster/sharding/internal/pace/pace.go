// Package pace decides which of the remembered entities of a node start, and when. It has no
// goroutines and no clock.
package pace

import "github.com/understudy-go/understudy/internal/turns"

// AtOnce is how many entities start in one interval.
const AtOnce = 50

// A Pace starts entities of several types, which take turns. The zero Pace has none to start, and
// none may start before the first interval.
type Pace struct {
	due  turns.Queue[string, Starter] // by type
	left int                          // how many may start in this interval
}

// A Starter starts the next entity of a shard. It reports whether there was one, and whether there
// may be more.
type Starter func() (started, more bool)

// Add adds a shard of a type after its others. [Pace.Next] starts its entities.
func (p *Pace) Add(typ string, shard Starter) { p.due.Push(typ, shard) }

// Next starts what may start in this interval, except entities of types for which crowded returns
// true.
func (p *Pace) Next(crowded func(typ string) bool) {
	for p.left > 0 {
		typ, shard, ok := p.due.Pop(crowded)
		if !ok {
			return
		}
		started, more := shard()
		if started {
			p.left--
		}
		if more {
			p.due.Push(typ, shard)
		}
	}
}

// Interval begins an interval, and then does what [Pace.Next] does. It reports whether another
// interval must follow.
func (p *Pace) Interval(crowded func(typ string) bool) (more bool) {
	p.left = AtOnce
	p.Next(crowded)
	return p.left < AtOnce || !p.due.Empty()
}
