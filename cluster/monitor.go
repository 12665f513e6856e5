package cluster

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/phi"
)

// A monitor judges the members that this node hears from.
type monitor struct {
	set      Detector
	subjects map[ID]*subject
	last     time.Time // the last time it looked
}

// A subject is one member under observation.
type subject struct {
	detector *phi.Detector
	since    time.Time
	seq      uint64    // the highest heartbeat that has arrived on either lane
	stream   time.Time // when the TCP lane last carried one
	differs  int       // heartbeats in a row whose sums were not ours
	silent   bool      // unreachable at the last look
}

func newMonitor(set Detector) monitor {
	return monitor{set: set, subjects: map[ID]*subject{}}
}

// watch makes the given members the subjects.
func (m *monitor) watch(ids []ID, now time.Time) {
	for _, id := range ids {
		if m.subjects[id] == nil {
			m.subjects[id] = &subject{detector: phi.New(m.set.phi()), since: now, stream: now}
		}
	}
	for id := range m.subjects {
		if !slices.Contains(ids, id) {
			delete(m.subjects, id)
		}
	}
}

// hear notes a heartbeat, and returns the subject; nil if it is none. Of the two copies
// of a heartbeat the first to arrive counts.
func (m *monitor) hear(id ID, h heartbeat, now time.Time) *subject {
	s := m.subjects[id]
	if s == nil {
		return nil
	}
	if h.Stream {
		s.stream = now
	}
	if h.Seq > s.seq {
		s.seq = h.Seq
		s.detector.Heartbeat(now)
	}
	return s
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
			s.stream = now
		}
		if now.Sub(s.since) >= m.set.ExpectAfter {
			s.detector.Expect(now)
		}
		s.silent = !s.detector.Available(now) || now.Sub(s.stream) > m.set.StreamDead
		if s.silent {
			silent = append(silent, id)
		}
	}
	slices.SortFunc(silent, ID.Compare)
	return silent
}
