package actor

import "sync/atomic"

// A pause implements extension.Pause. While it lasts, the turn of the actor is over, but nothing is
// handled: the actor counts as scheduled, so that no message schedules it. End starts the next
// turn.
type pause struct {
	cell  *cell
	then  func() any // nil means the same
	state atomic.Int32
}

const (
	pauseBegun  int32 = iota // the handler has not returned yet
	pauseParked              // the turn is over
	pauseOver                // End was called
)

func (x *inside) Pause(then func() any) interface {
	Begin() bool
	End()
} {
	return &pause{cell: x.cell, then: then}
}

func (p *pause) Begin() bool {
	c := p.cell
	c.core.check("Pause")
	if c.core.phase != running || c.core.inTask || c.core.outside || c.wrapping != nil {
		return false
	}
	p.state.Store(pauseBegun)
	c.own().pause = p
	c.core.phase = paused
	c.urgent.Store(true) // so that the turn looks at the phase
	return true
}

func (p *pause) End() {
	if !p.state.CompareAndSwap(pauseBegun, pauseOver) {
		p.state.Store(pauseOver)
		p.cell.core.sys.scheduler.ready(&p.cell.core)
	}
}

// If the pause is not over, the turn is: c belongs to the one that End starts.
func (p *pause) leave() bool {
	c := p.cell
	// End and leave race, and the swap says which came second. If End did, the turn is over here,
	// and End starts the next one, perhaps before leave returns: therefore the owner is removed
	// before the swap. If leave did, this turn goes on.
	c.core.owner.end()
	if p.state.CompareAndSwap(pauseBegun, pauseParked) {
		return false
	}
	c.core.owner.begin()
	c.core.phase, c.pause = running, nil
	if next := p.then(); next != nil {
		c.box.become(next, nil)
	}
	return true
}
