package cluster

import "github.com/understudy-go/understudy/cluster/membership"

// waiting returns sentences that say why the node does not make progress.
func (n *Node) waiting(v View, ended bool) []string {
	switch {
	case ended && n.failure != nil:
		return []string{"This node has ended: " + n.failure.Error() + "."}
	case ended:
		return []string{"This node has ended."}
	case v.Self.Status == 0:
		return []string{"This node " + n.whyNotUp() + "."}
	case v.Self.Status >= Down:
		return []string{"The cluster has given this node up, or it leaves: it stops what it runs."}
	}
	return membership.Reasons(v)
}
