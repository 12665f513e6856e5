package placement

import (
	"errors"
	"time"
)

// A simSource is the source of terms that all coordinators share, even if they are partitioned from
// each other.
type simSource struct {
	*fakeSource
	owners map[string]map[uint64]string // of terms, by label
}

func newSimSource() *simSource {
	return &simSource{fakeSource: newFakeSource(), owners: map[string]map[uint64]string{}}
}

var errSimSource = errors.New("the store is away")

// simPatience is how long after it was made a call may take effect, even if the caller has given it
// up.
const simPatience = time.Second

// call makes a call of the source, which may fail, hang, and be answered late or never,
// whether it has happened or not.
func (g *simSingletons) call(c *simCoordinator, e claimTerm) {
	s := g.sim
	s.found.Calls++
	happens, answers, fails := s.upTo(20*time.Millisecond), s.upTo(20*time.Millisecond), false
	switch {
	case s.quiet || s.chance(0.8):
	case s.chance(0.3): // it fails
		happens, fails = -1, true
	case s.chance(0.3): // it happens, but seems to have failed
		fails = true
	case s.chance(0.5): // it takes its time
		happens, answers = s.upTo(simPatience), s.upTo(3*time.Second)
		s.found.CallsLate++
	case s.chance(0.5): // it happens, and the answer is lost
		happens, answers = s.upTo(simPatience), -1
		s.found.CallsSilent++
	default:
		happens, answers = -1, -1
		s.found.CallsSilent++
	}
	if fails {
		s.found.CallsFailed++
	}
	out := termClaimed{Number: e.Number}
	if happens >= 0 {
		s.in(happens, func() { out.Term = g.happen(c, e) })
	}
	if answers < 0 {
		return
	}
	s.in(max(happens, 0)+answers, func() {
		if fails {
			out = termClaimed{Number: e.Number, Err: errSimSource}
		}
		c.step(out)
	})
}

// happen carries out a call, and records the owner of each term.
func (g *simSingletons) happen(c *simCoordinator, e claimTerm) uint64 {
	term := g.source.claim(e)
	g.sim.note("source for %d: %s %s above %d: %d", c.epoch, e.Label, e.Owner, e.Floor, term)
	if g.source.owners[e.Label] == nil {
		g.source.owners[e.Label] = map[uint64]string{}
	}
	g.source.owners[e.Label][term] = e.Owner
	return term
}
