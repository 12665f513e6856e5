package cluster

import (
	"fmt"

	"github.com/understudy-go/understudy/cluster/membership"
)

// FoundWithout says that the nodes at some addresses are stopped for good, so that the nodes that
// are left found a cluster without their answers. An operator needs it when a majority is lost, the
// first seed with it, and the others wait. The addresses are those of seeds, and those at which
// members lived; [View.Waiting] names the ones that do not answer.
//
// Call it on one node that looks for a cluster. The node tells the others when it asks them to let
// it in. If the first seed is gone, the lowest address of the other seeds founds, when all of them
// have answered. If another seed is gone, the first seed founds.
//
// The caller promises that no node runs at the addresses, and that none is started there until the
// cluster has formed. A node that is started there later joins. If the promise is false, and such a
// node is in a cluster, or is told the same of the nodes on this side, there are two clusters until
// they meet; then the smaller one dissolves.
//
// FoundWithout returns when this node has accepted the addresses; it does not wait for the cluster.
// The node forgets them when it is in a cluster, and forgets one of them when it hears from it.
//
// It returns [ErrNotJoining] when the node is in a cluster, or stops. It returns another error, and
// accepts nothing, when no address is given, when an address is this node's own or one that it does
// not ask, when a node has answered there in the last six seconds, when no seed would be left, and
// where [Config].Discovery is set.
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
