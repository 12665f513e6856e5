package cluster

import (
	"errors"
	"fmt"
	"iter"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/protocol"
)

// versions are those of the protocol between members that this release speaks.
var versions = protocol.UpTo(membership.Version)

func spoken() transport.Protocol {
	return transport.Protocol{Min: versions.Min, Max: versions.Max, Features: uint64(protocol.Own)}
}

// versionFor returns the version in which a message for a node is sent: the highest that both nodes
// speak, or the one for all members if there was no handshake with that incarnation. Incarnation 0
// is the one that was last known at the address.
//
// A view may have a new incarnation before the first handshake with it. The process may then be of
// another release than the one before it. If the version is wrong, the message is dropped, and the
// connection on which it is sent begins with the handshake that corrects it.
func (n *Node) versionFor(to remote.NodeID) uint64 {
	if peer, ok := n.endpoint.Peer(to.Address); ok && (to.Incarnation == 0 || peer.ID == to) {
		if version, ok := versions.Common(versionsOf(peer)); ok {
			return version
		}
	}
	return n.versionForAll()
}

// versionForAll returns the version of what several members get: heartbeats, gossip and whole
// tables. All members that this node has talked to speak it.
func (n *Node) versionForAll() uint64 { return versions.ForAll(versionsOfMembers(n)) }

// versionsOfMembers yields what members speak that n has talked to.
func versionsOfMembers(n *Node) iter.Seq[protocol.Range] {
	return func(yield func(protocol.Range) bool) {
		for _, m := range n.View().Members {
			peer, ok := n.endpoint.Peer(m.Address)
			if ok && peer.ID == m.ID() && m.Status < Down && !yield(versionsOf(peer)) {
				return
			}
		}
	}
}

func versionsOf(p transport.Peer) protocol.Range {
	return protocol.Range{Min: p.Protocol.Min, Max: p.Protocol.Max}
}

// A node has no features before the first handshake with it.
func (n *Node) featuresOf(id remote.NodeID) protocol.Features {
	peer, ok := n.endpoint.Peer(id.Address)
	if !ok || peer.ID != id {
		return 0
	}
	return protocol.Features(peer.Protocol.Features)
}

// notUnderstood counts a message of a kind that this release does not know, and logs the first of
// each kind from each peer. Other messages that are not understood are only logged.
func (n *Node) notUnderstood(peer string, err error) {
	unknown, ok := errors.AsType[*membership.UnknownKindError](err)
	if !ok {
		n.cfg.Logger.Debug("message not understood", zap.String("peer", peer), zap.Error(err))
		return
	}
	kind := fmt.Sprintf("cluster %d", unknown.Kind)
	if n.skipped.Add(kind, peer) {
		n.log.Warn("messages of an unknown kind are skipped: the peer has a newer release", zap.String("kind", kind), zap.String("peer", peer))
	}
}

func (n *Node) skippedKinds() map[string]uint64 {
	all := n.endpoint.Skipped()
	if all == nil {
		all = map[string]uint64{}
	}
	for kind, count := range n.skipped.Counts() {
		all[kind] += count
	}
	return all
}
