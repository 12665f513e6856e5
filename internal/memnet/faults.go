package memnet

import (
	"slices"
	"time"
)

// Default delays of a network.
const (
	UsualDelay  = 200 * time.Microsecond
	UsualJitter = 300 * time.Microsecond
)

type faults struct {
	cuts          []*cut
	paused        map[string]bool
	delay, jitter time.Duration
	loss          float64
	losses        map[link]float64 // of single links
	duplicates    float64
	drop          func(from, to string, data []byte) bool
}

type cut struct {
	hits        func(link) bool
	streamsOnly bool
}

func (f *faults) cut(l link, stream bool) bool {
	return slices.ContainsFunc(f.cuts, func(c *cut) bool { return (stream || !c.streamsOnly) && c.hits(l) })
}

func (f *faults) frozen(l link) bool { return f.paused[l.from] || f.paused[l.to] }

// Partition cuts all links between hosts of different sides. The hosts that are not named form one
// more side. Partitions accumulate; mend undoes this one.
func (n *Network) Partition(sides ...[]string) (mend func()) {
	split := map[string]int{}
	for i, side := range sides {
		for _, name := range side {
			split[name] = i + 1
		}
	}
	return n.cut(&cut{hits: func(l link) bool { return split[l.from] != split[l.to] }})
}

// OneWay cuts one direction between two hosts and leaves the other open.
func (n *Network) OneWay(from, to string) (mend func()) {
	return n.cut(&cut{hits: func(l link) bool { return l == link{from, to} }})
}

// Stall delays the streams from one host to another; datagrams get through.
func (n *Network) Stall(from, to string) (mend func()) {
	return n.cut(&cut{hits: func(l link) bool { return l == link{from, to} }, streamsOnly: true})
}

func (n *Network) cut(c *cut) (mend func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.cuts = append(n.faults.cuts, c)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.faults.cuts = slices.DeleteFunc(n.faults.cuts, func(other *cut) bool { return other == c })
		n.release()
	}
}

// Sever silently breaks the streams between two hosts, like a NAT that has forgotten them: both
// ends stay open, and nothing arrives, not even a reset. Severed streams stay severed. Streams
// opened later work.
func (n *Network) Sever(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ends := range []link{{a, b}, {b, a}} {
		if h := n.hosts[ends.from]; h != nil {
			for _, c := range h.conns {
				c.severed = c.severed || c.peer != nil && c.peer.host.name == ends.to
			}
		}
	}
}

// Severed returns how many ends of severed streams are still open.
func (n *Network) Severed() (open int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.hosts {
		for _, c := range h.conns {
			if c.severed {
				open++
			}
		}
	}
	return open
}

// Heal undoes every Partition, OneWay and Stall. What streams sent meanwhile arrives now;
// datagrams are lost.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.cuts = nil
	n.release()
}

// Open reports whether streams and datagrams get through from one host to another: there is no
// cut, and neither host is paused.
func (n *Network) Open(from, to string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := link{from, to}
	return !n.faults.cut(l, true) && !n.faults.frozen(l)
}

// Pause holds back all traffic from and to a host, including datagrams, until [Network.Resume].
func (n *Network) Pause(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.paused[name] = true
}

// Resume ends a pause: everything that was held back arrives.
func (n *Network) Resume(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.faults.paused, name)
	n.release()
}

// Crash ends a host as if its processes were killed: its sockets fail, traffic in flight arrives,
// and traffic that waits for a cut to heal is lost. Peers get a reset, or nothing until they write
// if they are cut off. Connections are refused. A pause ends. The [Host] becomes unusable;
// [Network.Host] returns a new one. Crashing an unknown host does nothing.
func (n *Network) Crash(name string) { n.end(name, false) }

// PowerOff is [Network.Crash] of the whole machine: nothing answers, not even with a reset or a
// refusal, until there is a new [Host] with that name.
func (n *Network) PowerOff(name string) { n.end(name, true) }

func (n *Network) end(name string, off bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.hosts[name]
	if !ok {
		return
	}
	delete(n.hosts, name)
	n.off[name] = off
	for _, c := range h.conns {
		c.answerReset()
	}
	h.fail()
	delete(n.faults.paused, name)
	n.release()
}

// Delay sets the delay of all traffic from now on: d, and up to jitter more.
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

// LoseBetween sets the share of datagrams that are lost from one host to another, if it is more
// than what Lose sets.
func (n *Network) LoseBetween(from, to string, share float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.losses[link{from, to}] = share
}

// Duplicate sets the share of datagrams that arrive twice from now on, from 0 to 1. The copy may
// arrive first.
func (n *Network) Duplicate(share float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.duplicates = share
}

// Drop loses the datagrams for which f returns true; nil loses none. f must not block, keep data,
// or call the network.
func (n *Network) Drop(f func(from, to string, data []byte) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults.drop = f
}
