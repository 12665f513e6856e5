package cluster

import (
	"fmt"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// FoundWithout declares that the nodes at some addresses are stopped for good, so that the other
// nodes can found a cluster without their answers. An operator needs it when a majority of the
// nodes is lost, the first seed among them, and the others wait. Each address must be a seed, or
// one at which a member lived; [View.Waiting] names those that do not answer.
//
// Call it on one node that looks for a cluster; that node passes the addresses on to the others. If
// the first seed is gone, the lowest address of the other seeds founds the cluster when all of them
// have answered. If another seed is gone, the first seed founds it.
//
// The caller promises that no node runs at the addresses, and that none starts there until the
// cluster has formed. A node that starts there later joins. If the promise is broken, there may be
// two clusters until they meet; then the smaller one dissolves. That happens if such a node is in a
// cluster, or if FoundWithout is called there with the addresses of this side.
//
// FoundWithout returns when this node has accepted the addresses; it does not wait for the cluster.
// The node forgets all of them when it is in a cluster, and one of them when it hears from it.
//
// It returns [ErrNotJoining] when the node is in a cluster or stops. It returns another error, and
// accepts no address, in these cases:
//
//   - no address is given, or no seed would be left;
//   - an address is this node's own, or one that this node does not ask;
//   - a node has answered there in the last six seconds;
//   - Discovery of [Config] is set.
func (n *Node) FoundWithout(addresses ...string) error {
	answer := make(chan error, 1)
	n.inbox.post(0, membership.FoundWithoutAsked{Addresses: addresses, Answer: answer})
	select {
	case err := <-answer:
		return err
	case <-n.ended:
		return fmt.Errorf("%w: it has ended; call FoundWithout on a node that runs", ErrNotJoining)
	}
}
