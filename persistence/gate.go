package persistence

// A gate lets commands through one at a time. While the actor recovers or a write is
// under way they wait; then they run in the order in which they came.
type gate[M any] struct {
	phase    phase
	capacity int // of waiting and stashed together
	waiting  []M
	stashed  []M // put aside by their handler
}

// phase is where an event-sourced actor is in its life.
type phase uint8

const (
	recovering phase = iota // claim and replay are under way
	ready                   // commands run
	persisting              // a write is under way
	ended                   // it stops, or the journal has failed it: no command runs any more
)

// free says whether a command that comes now may run at once.
func (g *gate[M]) free() bool { return g.phase == ready && len(g.waiting) == 0 }

// wait adds cmd to those that wait, and reports whether there was room.
func (g *gate[M]) wait(cmd M) bool { return g.add(&g.waiting, cmd) }

// stash puts cmd aside, and reports whether there was room.
func (g *gate[M]) stash(cmd M) bool { return g.add(&g.stashed, cmd) }

func (g *gate[M]) add(to *[]M, cmd M) bool {
	if len(g.waiting)+len(g.stashed) >= g.capacity {
		return false
	}
	*to = append(*to, cmd)
	return true
}

// unstash puts what was put aside before what waits.
func (g *gate[M]) unstash() {
	g.waiting, g.stashed = append(g.stashed, g.waiting...), nil
}

// runnable says whether a command waits that may run now.
func (g *gate[M]) runnable() bool { return g.phase == ready && len(g.waiting) > 0 }

// next takes out the command that may run now.
func (g *gate[M]) next() (cmd M, ok bool) {
	if !g.runnable() {
		return cmd, false
	}
	var none M
	cmd, g.waiting[0] = g.waiting[0], none // retain nothing
	g.waiting = g.waiting[1:]
	return cmd, true
}

// drain takes out all commands, those put aside first.
func (g *gate[M]) drain() []M {
	g.unstash()
	all := g.waiting
	g.waiting = nil
	return all
}
