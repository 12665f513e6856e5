package singleton

import "time"

func (m *machine) start(now time.Time) []action {
	m.alive, m.started, m.startAt = true, now, time.Time{}
	return []action{startInstance{m.gen}}
}

func (m *machine) onFenceHeld(f fenceHeld) []action {
	if !m.alive || f.gen != m.gen {
		return nil
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
	m.killAt = now.Add(m.set.stopTimeout)
	return []action{stopInstance{now: immediately}}
}

// onEnded handles the end of the instance: wanted, or to be made good.
func (m *machine) onEnded(e instanceEnded, now time.Time) []action {
	if !m.alive {
		return nil
	}
	m.alive = false
	m.killAt = time.Time{}
	if m.phase != Host {
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

// afterInstance answers those who waited for the instance to end.
func (m *machine) afterInstance(now time.Time) []action {
	var out []action
	for _, w := range m.waiters {
		out = append(out, m.grant(w))
	}
	m.waiters = nil
	m.phase = Pending
	return append(out, m.settle(now)...)
}
