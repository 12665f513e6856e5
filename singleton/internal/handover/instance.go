package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/singleton/generation"
)

func (m *Machine) start(now time.Time) []Action {
	m.alive, m.started, m.startAt, m.born = true, now, time.Time{}, m.gen
	return []Action{StartInstance{m.gen}}
}

// onFenceHeld takes over the generation of the journal if that is later.
func (m *Machine) onFenceHeld(f FenceHeld) []Action {
	if !m.alive || f.Started != m.born {
		return nil
	}
	if m.gen.Less(f.Raised) {
		m.gen = f.Raised
	}
	fenced := singletonhook.Record{Term: m.gen.Term, Fenced: true}
	m.terms.learn(fenced)
	return []Action{SaveRecord{fenced}}
}

// stopFor stops the instance in a phase. Without an instance the phase is over at once.
func (m *Machine) stopFor(phase Phase, atOnce bool, now time.Time) []Action {
	m.phase = phase
	m.startAt = time.Time{}
	if !m.alive {
		return m.afterInstance(now)
	}
	m.stopping = stopping{step: told, since: now, at: now.Add(m.cfg.StopTimeout)}
	return []Action{StopInstance{AtOnce: atOnce}}
}

// onEnded handles the end of the instance: an expected one, or one that needs a restart.
func (m *Machine) onEnded(e InstanceEnded, now time.Time) []Action {
	if !m.alive {
		return nil
	}
	m.alive = false
	m.stopping = stopping{}
	if e.Finished {
		m.terms.known.Finished = true
		return append([]Action{SaveRecord{m.terms.known}}, m.afterInstance(now)...)
	}
	if e.LeaseLost {
		m.loseLease(ErrLeaseLost, now)
	}
	if m.phase != Host || e.LeaseLost {
		return m.afterInstance(now)
	}
	if now.Sub(m.started) >= m.cfg.Restart.ResetAfter() {
		m.failures = 0
	}
	m.startAt = now.Add(m.cfg.Restart.Delay(m.failures))
	m.failures++
	if e.Fenced { // another instance has written: ask for permission again before the next start
		m.phase = Pending
		return m.settle(now)
	}
	m.gen.Seq++
	return m.onTick(now)
}

// afterInstance releases the lease, and grants the requests that waited for the instance to end;
// with a lease, once that is free.
func (m *Machine) afterInstance(now time.Time) []Action {
	m.phase = Pending
	out := m.release()
	if !m.outside.releasing {
		out = append(out, m.grantWaiters()...)
	}
	return append(out, m.settle(now)...)
}

// Restarts returns how many times in a row the instance has ended here by itself without having run
// well. wellAt is when the running instance will have run well; zero if none runs.
func (m *Machine) Restarts() (inARow int, wellAt time.Time) {
	switch m.phase {
	case Pending, Standby, Ended:
		return 0, time.Time{}
	case Asking, Acquiring, Host, HandingOver, Stopping:
	}
	if m.alive {
		wellAt = m.started.Add(m.cfg.Restart.ResetAfter())
	}
	return m.failures, wellAt
}

// Phase returns the present phase.
func (m *Machine) Phase() Phase { return m.phase }

// Topology returns the last topology. The caller must not change it.
func (m *Machine) Topology() *singletonhook.Topology { return &m.topo }

// Self returns this node's incarnation in that topology.
func (m *Machine) Self() node.ID { return m.topo.Self }

// Generation returns the generation of the instance here, or of the last one.
func (m *Machine) Generation() generation.Generation { return m.gen }

// Alive reports whether an instance runs here, including one that was given up.
func (m *Machine) Alive() bool { return m.alive }

// HighestTerm returns the highest term that this node has heard of or promised.
func (m *Machine) HighestTerm() uint64 { return m.terms.highest() }

// NotBefore returns when a waiting node may start an instance or asks for the lease again; zero
// when it waits for nothing but answers.
func (m *Machine) NotBefore() time.Time {
	switch m.phase {
	case Asking:
		return m.earliestStart()
	case Acquiring:
		return m.outside.retryAt
	case Pending, Standby, Host, HandingOver, Stopping, Ended:
	}
	return time.Time{}
}
