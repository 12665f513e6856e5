package cluster

// A simLease is the lease of a world. It is asked over the network, as it were: a
// question and its answer take their time, and are lost where the lease is out of reach.
type simLease struct {
	holder string       // an address; empty is nobody
	lost   map[int]bool // nodes that cannot reach it
	grants int          // to another holder than before
}

func (l *simLease) acquire(address string) bool {
	if l.holder == "" {
		l.holder, l.grants = address, l.grants+1
	}
	return l.holder == address
}

func (l *simLease) release(address string) {
	if l.holder == address {
		l.holder = ""
	}
}

// lend lets a node ask for the lease.
func (w *world) lend(n *simNode, m *machine, a acquire) {
	process := n.process
	if w.lease.lost[n.index] {
		w.note("n%d cannot reach the lease", n.index+1)
		w.after(a.ask.Timeout, func() { n.hearLease(m, process, leased{number: a.number}) })
		return
	}
	w.after(w.delay(), func() {
		held := w.lease.acquire(w.address(n.index))
		w.note("n%d asked for the lease: %v", n.index+1, held)
		w.after(w.delay(), func() { n.hearLease(m, process, leased{number: a.number, held: held}) })
		if held {
			w.after(a.ask.Hold, func() { w.lease.release(w.address(n.index)) })
		}
	})
}

func (n *simNode) hearLease(m *machine, process int, ev leased) {
	n.occur(func() {
		if n.process == process && n.machine == m {
			n.step(ev)
		}
	})
}
