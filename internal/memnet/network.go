// Package memnet is an in-memory network with controlled faults: hosts with stream and datagram
// sockets behind the interfaces of package net. It replaces TCP and UDP in tests, mostly inside
// testing/synctest bubbles: goroutines that wait for it block durably, so virtual time advances.
//
// Guarantees:
//
//   - A stream is in order and complete, like TCP. During a cut it stalls, and what was
//     written arrives after [Network.Heal]. It has a window: writing to a peer that does
//     not read blocks.
//   - Everything written before Close is read before io.EOF. What arrives at a closed or
//     crashed end is answered with a reset.
//   - Dialing takes a round trip. Over a cut it blocks until the context ends; without a
//     listener it fails with [syscall.ECONNREFUSED].
//   - A datagram arrives once or not at all, in any order; twice only with
//     [Network.Duplicate].
//   - Delays and losses depend on the seed, the pair of hosts and a counter of their
//     traffic: the traffic of other hosts does not change them.
//
// A Network and everything that it returns may be used by any goroutine, either in one bubble or
// outside all bubbles. It has no goroutine and, once closed, no timer.
package memnet

import (
	"hash/fnv"
	"sync"
	"time"
)

// Network connects hosts. Make one with [New]; the zero value is not usable.
type Network struct {
	mu     sync.Mutex // guards all below, and the insides of every host and socket
	seed   uint64
	hosts  map[string]*Host
	dice   map[link]*dice
	off    map[string]bool // hosts without power
	faults faults
	wire   wire
	closed bool
}

// A link is one direction.
type link struct{ from, to string }

// New returns a network without faults whose delays are 200 to 500 µs.
// Equal seeds draw equal delays and losses.
func New(seed uint64) *Network {
	serialize()
	return &Network{
		seed:   seed,
		hosts:  map[string]*Host{},
		dice:   map[link]*dice{},
		off:    map[string]bool{},
		faults: faults{paused: map[string]bool{}, losses: map[link]float64{}, delay: UsualDelay, jitter: UsualJitter},
	}
}

// Host returns the host with that name. It is created on first use, and again after
// [Network.Crash] and [Network.PowerOff].
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
	delete(n.off, name)
	return h
}

// Close closes all hosts, sockets and timers. Pending calls fail.
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

func (n *Network) latency(l link) time.Duration {
	return n.faults.delay + time.Duration(float64(n.faults.jitter)*n.draw(l))
}

// The number is in [0, 1), and depends on the seed, the link and the count of earlier draws for it.
func (n *Network) draw(l link) float64 {
	d, ok := n.dice[l]
	if !ok {
		d = newDice(n.seed, l)
		n.dice[l] = d
	}
	return d.next()
}

// A dice is a hash of seed, link and counter.
type dice struct{ base, count uint64 }

func newDice(seed uint64, l link) *dice {
	h := fnv.New64a()
	h.Write([]byte(l.from + "\x00" + l.to)) // a hash never fails
	return &dice{base: mix(seed ^ h.Sum64())}
}

// The number is in [0, 1).
func (d *dice) next() float64 {
	d.count++
	return float64(mix(d.base+d.count)>>11) / (1 << 53)
}

// mix is the finalizer of SplitMix64: every bit of x moves about half of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
