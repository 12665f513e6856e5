package cluster

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/remote"
)

// spoken returns what the nodes of this release speak with each other.
func spoken() remote.Protocol {
	versions := protocol.UpTo(membership.Version)
	return remote.Protocol{Min: versions.Min, Max: versions.Max, Features: uint64(protocol.Own)}
}

// versionFor returns the version in which a message for an address is sent: the highest that both
// nodes speak, or 0 for the lowest if the node there is not known.
func (n *Node) versionFor(address string) uint64 {
	peer, ok := n.endpoint.Peer(address)
	if !ok {
		return 0
	}
	version, _ := protocol.UpTo(membership.Version).Common(protocol.Range{Min: peer.Protocol.Min, Max: peer.Protocol.Max})
	return version
}

// featuresOf returns the features of another node; none before the first handshake with it.
func (n *Node) featuresOf(id ID) protocol.Features {
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

// skippedKinds returns how many messages of each kind this node has skipped, see
// [remote.Endpoint.Skipped].
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
