package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/phi"
)

// A monitor judges the members that this node observes.
type monitor struct {
	set      Detector
	subjects map[ID]*subject
	last     time.Time // the last time it looked
}

// A subject is one member under observation.
type subject struct {
	detector  *phi.Detector
	since     time.Time
	heard     time.Time // the last sign of life, or since when it is missed
	asked     time.Time // when it was asked for one
	seq       uint64    // the highest heartbeat that has arrived on either lane
	streamSeq uint64    // the highest that has arrived on the TCP lane
	stream    time.Time // when the TCP lane last carried one
	differing int       // heartbeats in a row whose sums were not ours
	refused   bool      // nobody listens at its address, and it has not been heard since
	disproved bool      // it has been heard after a refusal once
	silent    bool      // unreachable at the last look
}

func newMonitor(set Detector) monitor {
	return monitor{set: set, subjects: map[ID]*subject{}}
}

// watch makes the given members the subjects.
func (m *monitor) watch(ids []ID, now time.Time) {
	keep := make(map[ID]bool, len(ids))
	for _, id := range ids {
		keep[id] = true
		if m.subjects[id] == nil {
			m.subjects[id] = &subject{detector: phi.New(m.set.phi()), since: now, heard: now, stream: now}
		}
	}
	maps.DeleteFunc(m.subjects, func(id ID, _ *subject) bool { return !keep[id] })
}

// hear notes a heartbeat. Of the two copies of one the first to arrive counts. It reports
// whether this was the regular one of a subject on the TCP lane, which comes but once.
func (m *monitor) hear(id ID, h heartbeat, now time.Time) bool {
	s := m.subjects[id]
	if s == nil {
		return false
	}
	if h.Seq > s.seq {
		s.seq = h.Seq
		s.heard = now
		s.detector.Heartbeat(now)
		s.disproved = s.disproved || s.refused
		s.refused = false
	}
	if !h.Stream {
		return false
	}
	s.stream = now
	regular := h.Seq > s.streamSeq
	s.streamSeq = max(s.streamSeq, h.Seq)
	return regular
}

// differs notes whether a subject's sums differ from ours, and reports whether they have
// done so twice in a row: a difference that is just being made good is none.
func (m *monitor) differs(id ID, is bool) bool {
	s := m.subjects[id]
	if s.differing++; !is {
		s.differing = 0
	}
	if s.differing < 2 {
		return false
	}
	s.differing = 0
	return true
}

// refuse notes that nobody listens at the address of a subject: it is gone, although its
// host lives. A heartbeat after that disproves it; something on the way must refuse for
// it, then, and further refusals only count when it is silent as well.
func (m *monitor) refuse(id ID, now time.Time) {
	s := m.subjects[id]
	if s == nil || s.disproved && now.Sub(s.heard) <= m.set.overdue() {
		return
	}
	s.refused = true
}

// overdue returns the subjects to be asked for a sign of life now, sorted. They may not
// know that they are observed by this node; whoever they are, it does no harm.
func (m *monitor) overdue(now time.Time) []ID {
	var ids []ID
	for id, s := range m.subjects {
		if now.Sub(s.heard) > m.set.overdue() && now.Sub(s.asked) >= m.set.Interval {
			s.asked = now
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// look returns who is unreachable, sorted. When the node itself has been asleep since
// the last look, everyone who was reachable is forgiven once: nobody knows who spoke in
// the meantime. Who was not must be heard from; else a node that is short of processor
// time would take the dead for living again and again.
func (m *monitor) look(now time.Time) []ID {
	asleep := !m.last.IsZero() && now.Sub(m.last) > m.set.guard()
	m.last = now
	var silent []ID
	for id, s := range m.subjects {
		if asleep && !s.silent {
			s.detector.Forgive(now)
			s.stream, s.heard = now, now
		}
		if now.Sub(s.since) >= m.set.ExpectAfter {
			s.detector.Expect(now)
		}
		s.silent = s.refused || !s.detector.Available(now) || now.Sub(s.stream) > m.set.StreamDead
		if s.silent {
			silent = append(silent, id)
		}
	}
	slices.SortFunc(silent, ID.Compare)
	return silent
}
