package singleton

import "time"

func (m *machine) start(now time.Time) []action {
	m.alive, m.started, m.startAt, m.born = true, now, time.Time{}, m.gen
	return []action{startInstance{m.gen}}
}

// onFenceHeld takes over the generation of the journal, when that is the later one.
func (m *machine) onFenceHeld(f fenceHeld) []action {
	if !m.alive || f.gen != m.born {
		return nil
	}
	if m.gen.Less(f.raised) {
		m.gen = f.raised
	}
	fenced := Record{Term: m.gen.Term, Fenced: true}
	m.known = m.known.Merge(fenced)
	return []action{saveRecord{fenced}}
}

// stopFor ends the instance, by going through phase. Without an instance that is over
// at once.
func (m *machine) stopFor(phase Phase, immediately bool, now time.Time) []action {
	m.phase = phase
	m.startAt = time.Time{}
	if !m.alive {
		return m.afterInstance(now)
	}
	m.stopping = stopping{step: told, since: now, at: now.Add(m.set.stopTimeout)}
	return []action{stopInstance{now: immediately}}
}

// onEnded handles the end of the instance: wanted, or to be made good.
func (m *machine) onEnded(e instanceEnded, now time.Time) []action {
	if !m.alive {
		return nil
	}
	m.alive = false
	m.stopping = stopping{}
	if e.finished {
		m.known.Finished = true
		return append([]action{saveRecord{m.known}}, m.afterInstance(now)...)
	}
	if e.leaseLost {
		m.loseLease(ErrLeaseLost, now)
	}
	if m.phase != Host || e.leaseLost {
		return m.afterInstance(now)
	}
	if now.Sub(m.started) >= m.set.restart.ResetAfter() {
		m.failures = 0
	}
	m.startAt = now.Add(m.set.restart.Delay(m.failures))
	m.failures++
	if e.fenced { // somebody else has written: begin again from the asking, not in place
		m.phase = Pending
		return m.settle(now)
	}
	m.gen.Seq++
	return m.onTick(now)
}

// afterInstance gives the lease back, and answers those who waited for the instance to
// end; when there is a lease, once it is free.
func (m *machine) afterInstance(now time.Time) []action {
	m.phase = Pending
	out := m.release()
	if !m.outside.releasing {
		out = append(out, m.grantWaiters()...)
	}
	return append(out, m.settle(now)...)
}

func (m *machine) grantWaiters() []action {
	var out []action
	for _, w := range m.waiters {
		out = append(out, m.grant(w))
	}
	m.waiters = nil
	return out
}
