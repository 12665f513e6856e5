package transport

import (
	"fmt"
	"sync"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/protocol"
)

// Version is the newest version of the protocol of this package that this release speaks. A release
// also speaks the version before, so that nodes can be upgraded one by one. Endpoints speak the
// highest version that both know, and refuse each other without such a version; docs/upgrades.md
// has the rules.
const Version = 1

// This release has none yet.
const ownFeatures protocol.Features = 0

// A Protocol is a range of versions and a set of features, see [Config.Protocol].
type Protocol struct {
	Min, Max uint64 // the versions that are spoken, from 1 on
	Features uint64 // a bit for each; those that a peer does not know have no effect
}

func (p Protocol) versions() protocol.Range { return protocol.Range{Min: p.Min, Max: p.Max} }

// A Peer is what an endpoint knows of another one since the last handshake with it.
type Peer struct {
	ID       remote.NodeID
	Version  uint64   // of the protocol of this package that the two speak
	Protocol Protocol // of the peer's user; zero if it has none
}

// Peer returns what is known of the endpoint at an address. It returns false if there has been no
// handshake with it since it was forgotten, see [Endpoint.Forget], or if it is a client: one with
// [Config.Outbound].
func (e *Endpoint) Peer(addr string) (Peer, bool) { return e.peers.at(addr) }

// Skipped returns how many messages of the framework were skipped because this release does not
// know their kind, by kind. Such a message comes from a newer release, and is not needed. The first
// of each kind from each peer is logged as a warning.
func (e *Endpoint) Skipped() map[string]uint64 { return e.skipped.Counts() }

// The first message of a kind from a peer is logged.
func (n *localNode) skip(kind, peer string) {
	if n.skipped.Add(kind, peer) {
		n.log.Warn("messages of an unknown kind are skipped: the peer has a newer release", zap.String("kind", kind), zap.String("peer", peer))
	}
}

type agreement struct {
	version     uint64   // of the protocol of this package that they speak
	userVersion uint64   // of Config.Protocol; 0 if one side has none
	peer        Protocol // what the peer's user speaks
}

func (h hello) versions() protocol.Range { return protocol.Range{Min: h.Min, Max: h.Max} }

func userProtocol(lowest, highest uint64, f protocol.Features) Protocol {
	return Protocol{Min: lowest, Max: highest, Features: uint64(f)}
}

// agree fails with a [*refusal] if the two have no version in common.
func (n *localNode) agree(h hello) (agreement, error) {
	with := agreement{peer: userProtocol(h.UserMin, h.UserMax, h.UserFeatures)}
	var ok bool
	if with.version, ok = n.cfg.versions.Common(h.versions()); !ok {
		return agreement{}, n.refuseVersion("remote", h.Addr, n.cfg.versions, h.versions())
	}
	if mine := n.cfg.Protocol; mine != (Protocol{}) && with.peer != (Protocol{}) {
		if with.userVersion, ok = mine.versions().Common(with.peer.versions()); !ok {
			return agreement{}, n.refuseVersion("cluster", h.Addr, mine.versions(), with.peer.versions())
		}
	}
	return with, nil
}

func (n *localNode) refuseVersion(of, addr string, mine, theirs protocol.Range) *refusal {
	return refuse(remote.RefusedVersion, "%s", protocol.Mismatch(of, protocol.Speaker{Name: n.addr, Range: mine}, protocol.Speaker{Name: addr, Range: theirs}))
}

func (w agreement) answer(a answer) answer {
	a.Version, a.UserVersion = w.version, w.userVersion
	return a
}

func (n *localNode) speaking(a answer) answer {
	mine, user := n.cfg.versions, n.cfg.Protocol
	a.Min, a.Max, a.Features = mine.Min, mine.Max, ownFeatures
	a.UserMin, a.UserMax, a.UserFeatures = user.Min, user.Max, protocol.Features(user.Features)
	return a
}

func (a answer) agreed() agreement {
	return agreement{version: a.Version, userVersion: a.UserVersion, peer: userProtocol(a.UserMin, a.UserMax, a.UserFeatures)}
}

func (n *localNode) checkVersions(a answer) error {
	user := n.cfg.Protocol.versions()
	if !n.cfg.versions.Has(a.Version) || a.UserVersion != 0 && !user.Has(a.UserVersion) {
		return fmt.Errorf("%w: the answer chooses version %d, and %d of the user's protocol; this node speaks %v, and %v", remote.ErrFrame, a.Version, a.UserVersion, n.cfg.versions, user)
	}
	return nil
}

// The version is the one that was agreed on, or else one that all known peers speak.
func (n *localNode) versionFor(addr string) byte {
	var version uint64
	if p, ok := n.peers.at(addr); ok && n.cfg.versions.Has(p.Version) {
		version = p.Version
	} else {
		version = n.cfg.versions.ForAll(n.peers.versions)
	}
	return byte(version) //nolint:gosec // they fit into the 7 bits that a sealed datagram has
}

type metPeers struct {
	mu     sync.RWMutex // guards all
	byAddr map[string]Peer
}

func (p *metPeers) at(addr string) (Peer, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	known, ok := p.byAddr[addr]
	return known, ok
}

func (p *metPeers) versions(yield func(protocol.Range) bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, known := range p.byAddr {
		if !yield(protocol.Range{Min: known.Version, Max: known.Version}) {
			return
		}
	}
}

const maxPeers = 2 * maxChannels

// Clients are not kept: each has a new address, and nothing depends on what they speak. If there
// are too many others, one is forgotten: it is known again after the next handshake.
func (p *metPeers) keep(id remote.NodeID, with agreement) {
	if isOutbound(id.Address) {
		return
	}
	now := Peer{ID: id, Version: with.version, Protocol: with.peer}
	if before, ok := p.at(id.Address); ok && before == now {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byAddr == nil {
		p.byAddr = map[string]Peer{}
	}
	if _, known := p.byAddr[id.Address]; !known && len(p.byAddr) >= maxPeers {
		p.evict()
	}
	p.byAddr[id.Address] = now
}

// evict forgets any peer. mu is held.
func (p *metPeers) evict() {
	for addr := range p.byAddr {
		delete(p.byAddr, addr)
		return
	}
}

func (p *metPeers) forget(id remote.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byAddr[id.Address].ID == id {
		delete(p.byAddr, id.Address)
	}
}
