package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
)

// A simJournal takes what instances write. With epochs it takes nothing of one that is
// not the last to have claimed.
type simJournal struct {
	epoch  uint64
	latest *simInstance // the last in their order that has written
	writer *simInstance
	wrote  time.Duration
	high   tenure.Generation
}

type simVerdict int

const (
	simUnknown simVerdict = iota
	simAccepted
	simRefused
)

// claim takes the next epoch of the instance's term. It is refused, with the term of the newest
// epoch, when that is of a later one.
func (j *simJournal) claim(i *simInstance) (epoch, refusedBy uint64) {
	packed, err := i.gen.Packed()
	if err != nil {
		panic(err)
	}
	if newest := tenure.Unpack(j.epoch); newest.Term > i.gen.Term {
		i.node.sim.found.claims++
		return 0, newest.Term
	}
	j.epoch = max(j.epoch+1, packed)
	return j.epoch, 0
}

func (j *simJournal) append(i *simInstance) simVerdict {
	s := i.node.sim
	stale := j.latest != nil && i.before(j.latest)
	if stale {
		s.found.stale++
	}
	if s.plan.mode.fenced() {
		if i.claim != j.epoch {
			s.found.refused++
			return simRefused
		}
		if i.gen.Less(j.high) {
			s.breach("%v writes after %v", i.gen, j.high)
		}
		j.high = i.gen
	} else if stale {
		s.found.corrupt++
		s.note(i.node, "%v writes, and is stale", i.gen)
	}
	if j.wrote > 0 {
		gap := s.now - j.wrote
		s.found.gap = max(s.found.gap, gap)
		if last := j.writer; last != nil && last.node != i.node && last.wanted && last.over && !s.quiet {
			s.found.handOvers = append(s.found.handOvers, gap)
		}
	}
	if !stale {
		j.latest = i
	}
	j.writer, j.wrote = i, s.now
	i.acted = true
	return simAccepted
}
