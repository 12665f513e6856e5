package memnet

import "time"

// faults is what is wrong with the network at the moment.
type faults struct {
	splits        []map[string]int // side of each host; 0 for those that no side names
	cuts          map[link]bool
	paused        map[string]bool
	delay, jitter time.Duration
	loss          float64
}

func newFaults() faults {
	return faults{
		cuts:   map[link]bool{},
		paused: map[string]bool{},
		delay:  200 * time.Microsecond,
		jitter: 300 * time.Microsecond,
	}
}

// cut tells whether nothing gets through l.
func (f *faults) cut(l link) bool {
	for _, side := range f.splits {
		if side[l.from] != side[l.to] {
			return true
		}
	}
	return f.cuts[l]
}

// frozen tells whether what is on l has to wait.
func (f *faults) frozen(l link) bool { return f.paused[l.from] || f.paused[l.to] }

// Partition cuts all links between hosts of different sides. The hosts that no side
// names are together one more side. Partitions add up until [Network.Heal].
func (n *Network) Partition(sides ...[]string) {
	split := map[string]int{}
	for i, side := range sides {
		for _, name := range side {
			split[name] = i + 1
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.splits = append(n.faults.splits, split)
}

// OneWay cuts the direction from one host to another, and leaves the way back open.
func (n *Network) OneWay(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.cuts[link{from, to}] = true
}

// Heal takes back every Partition and OneWay. What streams had to say meanwhile
// arrives now; datagrams are lost.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.splits = nil
	clear(n.faults.cuts)
	n.release()
}

// Pause keeps back what host name sends and what is sent to it, datagrams included,
// until [Network.Resume].
func (n *Network) Pause(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.paused[name] = true
}

// Resume ends a pause: everything that was kept back arrives.
func (n *Network) Resume(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.faults.paused, name)
	n.release()
}

// Crash ends host name as a power failure does: its sockets fail, what is already
// under way arrives, what waits for a cut to heal is lost. Peers see a reset, or
// nothing until they write when they are cut off. A pause ends. The [Host] is of no use
// any more; [Network.Host] returns a new one. Crashing nobody does nothing.
func (n *Network) Crash(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.hosts[name]
	if !ok {
		return
	}
	delete(n.hosts, name)
	for _, c := range h.conns {
		c.answerReset()
	}
	h.fail()
	delete(n.faults.paused, name)
	n.release()
}

// Delay sets how long everything takes from now on: d, and up to jitter more.
func (n *Network) Delay(d, jitter time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.delay, n.faults.jitter = d, jitter
}

// Lose sets the share of datagrams that are lost from now on, from 0 to 1.
func (n *Network) Lose(share float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.loss = share
}
