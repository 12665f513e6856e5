package membership

import "time"

// A simLease is the lease of a world. It is asked over the network: requests and answers take
// time, and are lost where the lease cannot be reached.
type simLease struct {
	holder string       // the address of the holder; empty before the first
	until  time.Time    // when it is released or expires
	lost   map[int]bool // nodes that cannot reach it
	grants int          // grants to another holder than before
}

// acquire grants the lease to an address. A holder that asks again holds it for longer.
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

// lend delivers a node's request for the lease.
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
