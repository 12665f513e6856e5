package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
)

// An Instance is what a machine knows of the instance on its node.
type Instance struct {
	Generation tenure.Generation // of the instance, or of the last one
	Running    bool              // also when it was given up

	born     tenure.Generation // under which it was started
	started  time.Time
	claimed  bool      // a journal has accepted a claim of it
	failures int       // restarts since it last ran well
	startAt  time.Time // no instance starts earlier
	rests    bool      // no instance starts before a message waits
}

func (i *Instance) due(now time.Time) bool {
	return !i.Running && !i.rests && !now.Before(i.startAt)
}

func (i *Instance) start(now time.Time) []Action {
	i.Running, i.rests, i.claimed, i.started, i.startAt, i.born = true, false, false, now, time.Time{}, i.Generation
	return []Action{StartInstance{i.Generation}}
}

func (m *Machine) onFenceHeld(f FenceHeld, now time.Time) []Action {
	i := &m.instance
	if !i.Running || f.Started != i.born {
		return nil
	}
	i.claimed = true
	if i.Generation.Less(f.Raised) {
		i.Generation = f.Raised
	}
	fenced := wire.Record{Term: i.Generation.Term, Seq: i.Generation.Seq, Fenced: true}
	m.terms.learn(fenced)
	return append([]Action{SaveRecord{fenced}}, m.review(now)...)
}

// stopFor stops the instance in a phase. Without an instance the phase is over at once.
func (m *Machine) stopFor(phase Phase, atOnce bool, now time.Time) []Action {
	m.phase = phase
	m.instance.startAt = time.Time{}
	if !m.instance.Running {
		return m.afterInstance(now)
	}
	m.stopping = stopping{step: told, since: now, at: now.Add(m.cfg.StopTimeout)}
	return []Action{StopInstance{AtOnce: atOnce}}
}

func (m *Machine) onEnded(e InstanceEnded, now time.Time) []Action {
	i := &m.instance
	if !i.Running {
		return nil
	}
	i.Running = false
	m.stopping = stopping{}
	m.terms.taken(e.FencedBy)
	if e.Finished {
		m.terms.known.Finished = true
		return append([]Action{SaveRecord{m.terms.known}}, m.afterInstance(now)...)
	}
	if e.LeaseLost {
		m.outside.lose(ErrLeaseLost, now.Add(m.cfg.LeaseRetry))
	}
	// Others wait for this end, or may acquire the lease: a restart in place would run beside them.
	if m.phase != Host || e.LeaseLost {
		return m.afterInstance(now)
	}
	if e.Forgotten {
		i.rests = true
		i.Generation.Seq++
		return nil
	}
	if now.Sub(i.started) >= m.cfg.Restart.ResetAfter() {
		i.failures = 0
	}
	i.startAt = now.Add(m.cfg.Restart.Delay(i.failures))
	if e.FencedBy > i.born.Term && !i.claimed && i.failures == 0 { // the journal is ahead of a new cluster
		i.startAt = now
	}
	i.failures++
	if e.Fenced { // another instance has written: ask for permission again before the next start
		m.phase = Pending
		return m.settle(now)
	}
	i.Generation.Seq++
	return m.onTick(now)
}

// Rests reports whether the node of m is the host, and starts an instance only for a message.
func Rests(m *Machine) bool { return m.phase == Host && m.instance.rests }

// afterInstance releases the lease, and grants the requests that waited for the instance to end;
// with a lease, once that is free.
func (m *Machine) afterInstance(now time.Time) []Action {
	m.phase = Pending
	out := m.outside.release()
	if !m.outside.Releasing { // otherwise onReleased grants them
		out = append(out, m.grantWaiters()...)
	}
	return append(out, m.settle(now)...)
}
