// Package memnet is a network in memory whose faults are under control: hosts with
// stream and datagram sockets, behind the interfaces of package net. It stands in for
// TCP and UDP in tests, above all inside testing/synctest bubbles: whoever waits for
// it blocks durably, so that virtual time moves on.
//
// What it promises:
//
//   - A stream is in order and complete, as in TCP. In a cut it stalls, and what was
//     written arrives after [Network.Heal]. It has a window: who writes to somebody
//     that does not read comes to wait.
//   - Everything that is written before Close is read before io.EOF. What arrives at a
//     closed or crashed end is answered with a reset.
//   - Dialling takes a round trip. Over a cut it hangs until the context ends; where
//     nobody listens it fails with [syscall.ECONNREFUSED].
//   - A datagram arrives once or not at all, in any order; twice only where
//     [Network.Duplicate] says so.
//   - Delays and losses are drawn from the seed, the pair of hosts and a counter of
//     what went from one to the other: traffic of other hosts does not change them.
//
// A Network and all that comes from it may be used by any goroutine, of one bubble
// or outside of all. It has no goroutine and, once closed, no timer.
package memnet

import (
	"sync"
	"time"
)

// Network connects hosts. Make one with [New]; the zero value is not usable.
type Network struct {
	mu     sync.Mutex // guards all below, and the insides of every host and socket
	seed   uint64
	hosts  map[string]*Host
	dice   map[link]*dice
	dark   map[string]bool // hosts without power
	faults faults
	wire   wire
	closed bool
}

// A link is one direction between two hosts.
type link struct{ from, to string }

// New returns a network without faults whose delays are 200 to 500 µs.
// Equal seeds draw equal delays and losses.
func New(seed uint64) *Network {
	serialize()
	return &Network{
		seed:   seed,
		hosts:  map[string]*Host{},
		dice:   map[link]*dice{},
		dark:   map[string]bool{},
		faults: newFaults(),
	}
}

// Host returns the host of that name; it comes into being when it is first asked for,
// and anew after [Network.Crash] and [Network.PowerOff].
func (n *Network) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, ok := n.hosts[name]; ok {
		return h
	}
	h := newHost(n, name)
	if n.closed {
		h.fail()
		return h
	}
	n.hosts[name] = h
	delete(n.dark, name)
	return h
}

// Close ends all hosts, sockets and timers; who waits for one of them gets an error.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.closed = true
	deserialize()
	for _, h := range n.hosts {
		h.fail()
	}
	n.hosts = map[string]*Host{}
	n.wire.clear()
}

// latency draws how long the next thing on l takes.
func (n *Network) latency(l link) time.Duration {
	return n.faults.delay + time.Duration(float64(n.faults.jitter)*n.draw(l))
}

// draw returns a number in [0, 1) that depends on the seed, the link and on how many
// were drawn for it before.
func (n *Network) draw(l link) float64 {
	d, ok := n.dice[l]
	if !ok {
		d = newDice(n.seed, l)
		n.dice[l] = d
	}
	return d.next()
}
