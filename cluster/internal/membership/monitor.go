package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/phi"
)

type monitor struct {
	set      Detector
	subjects map[ID]*subject
	last     time.Time // the last check
}

type subject struct {
	detector  *phi.Detector
	since     time.Time
	heard     time.Time // the last heartbeat, or since when the first is expected
	asked     time.Time // when it was last asked for a heartbeat
	seq       uint64    // the highest heartbeat that has arrived either way
	streamSeq uint64    // the highest heartbeat that has arrived on the TCP stream
	stream    time.Time // when the TCP stream last carried one
	differing int       // heartbeats in a row whose sums were not ours
	refused   bool      // no process listens at its address, and no heartbeat came since
	disproved bool      // a heartbeat has come after a refusal once
	silent    bool      // unreachable at the last check
}

func newMonitor(set Detector) monitor {
	return monitor{set: set, subjects: map[ID]*subject{}}
}

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

// hear records a heartbeat. Of its two copies the first to arrive counts. hear reports whether
// this is the copy of a regular heartbeat on the TCP stream, which arrives only once.
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

// differs records whether a subject's sums differ from ours, and reports whether they have
// differed twice in a row. A difference that lasts for one heartbeat is usually being resolved
// already.
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

// refuse records that no process listens at the address of a subject: its process is gone,
// although its host runs. A later heartbeat disproves that; then a proxy on the way refuses
// connections. Further refusals count only while the subject is silent as well.
func (m *monitor) refuse(id ID, now time.Time) {
	s := m.subjects[id]
	if s == nil || s.disproved && now.Sub(s.heard) <= m.set.overdue() {
		return
	}
	s.refused = true
}

// overdue returns the subjects to ask for a heartbeat now, sorted. They may not know that this
// node observes them. Asking a subject that does know does no harm.
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

// look returns the unreachable subjects, sorted. If this node itself was paused since the last
// check, it forgives each reachable subject once, because it cannot tell which heartbeats came
// in the meantime. A subject that was unreachable must send a heartbeat. Otherwise a node that
// is short of processor time would take dead subjects for living ones again and again.
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

func (m *monitor) highestPhi(now time.Time) (highest float64) {
	for _, s := range m.subjects {
		highest = max(highest, s.detector.Phi(now))
	}
	return highest
}

type observation struct {
	*core
	monitor  monitor
	observed []ID        // the members that send heartbeats to this node
	doubted  map[ID]bool // members that this node observes because their address refused a connection
}

func (o *observation) writeRow(r row) {
	r.Version++
	change := o.change()
	change.rows[o.self] = r
	o.decide(change)
}

func (o *observation) watchSubjects() {
	ids := o.observed
	for _, id := range slices.SortedFunc(maps.Keys(o.doubted), ID.Compare) {
		switch _, is := o.table.members[id]; {
		case !is:
			delete(o.doubted, id)
		case !slices.Contains(ids, id):
			ids = append(slices.Clip(ids), id)
		}
	}
	o.monitor.watch(ids, o.now)
}

// report writes the members that this node does not hear from into its row, and asks members
// that are late for a heartbeat.
func (o *observation) report() {
	silent := o.monitor.look(o.now)
	for _, id := range o.monitor.overdue(o.now) {
		o.tell(id, observe{})
	}
	o.trust(silent)
	if r := o.table.rows[o.self]; !slices.Equal(silent, r.Unreachable) {
		r.Unreachable = silent
		o.writeRow(r)
	}
}

func (o *observation) trust(silent []ID) {
	before := len(o.doubted)
	maps.DeleteFunc(o.doubted, func(id ID, _ bool) bool { return !slices.Contains(silent, id) })
	if len(o.doubted) < before {
		o.watchSubjects()
	}
}

// refusedFor handles a refused connection: no process listens at the address, or another
// incarnation does. The member at that address is unreachable until a heartbeat arrives.
func (o *observation) refusedFor(ev DialFailed) {
	if !ev.Refused && ev.Lives == 0 || o.set.Detector.KeepRefused {
		return
	}
	for _, id := range o.table.at(ev.Address) {
		if id != o.self && id.Incarnation != ev.Lives {
			o.doubted[id] = true
			o.watchSubjects()
			o.monitor.refuse(id, o.now)
		}
	}
	o.report()
}
