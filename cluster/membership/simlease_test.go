package membership

import "time"

// A simLease is the lease of a world. It is asked over the network, as it were: a
// question and its answer take their time, and are lost where the lease is out of reach.
type simLease struct {
	holder string       // an address; empty is nobody so far
	until  time.Time    // when it is given back, or has expired
	lost   map[int]bool // nodes that cannot reach it
	grants int          // to another holder than before
}

// acquire grants the lease to an address. Who asks again holds it for longer.
func (l *simLease) acquire(address string, now time.Time, hold time.Duration) bool {
	if l.holder != address {
		if now.Before(l.until) {
			return false
		}
		l.holder, l.grants = address, l.grants+1
	}
	l.until = now.Add(hold)
	return true
}

// lend lets a node ask for the lease.
func (w *world) lend(n *simNode, m *Machine, a AcquireLease) {
	process := n.process
	if w.lease.lost[n.index] {
		w.note("n%d cannot reach the lease", n.index+1)
		w.after(a.Ask.Timeout, func() { n.hearLease(m, process, LeaseAnswered{Number: a.Number}) })
		return
	}
	w.after(w.delay(), func() {
		held := w.lease.acquire(w.address(n.index), w.now, a.Ask.Hold)
		w.note("n%d asked for the lease: %v", n.index+1, held)
		w.after(w.delay(), func() { n.hearLease(m, process, LeaseAnswered{Number: a.Number, Held: held}) })
	})
}

func (n *simNode) hearLease(m *Machine, process int, ev LeaseAnswered) {
	n.occur(func() {
		if n.process == process && n.machine == m {
			n.step(ev)
		}
	})
}
