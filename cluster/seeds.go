package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

type lookup interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

const lookupTime = 2 * time.Second // for all seeds

// checkSeeds returns an error for seeds that may be several nodes. It accepts names that cannot be
// resolved now, because their nodes may start later.
func (c Config) checkSeeds(ctx context.Context, names lookup) error {
	if c.Network != nil {
		return nil // it resolves names itself
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	errs := make([]error, len(c.Seeds))
	var tasks sync.WaitGroup
	for i, seed := range c.Seeds {
		tasks.Go(func() { errs[i] = checkSeed(ctx, names, seed) })
	}
	tasks.Wait()
	return errors.Join(errs...)
}

func checkSeed(ctx context.Context, names lookup, seed string) error {
	host, port, err := net.SplitHostPort(seed)
	if err != nil {
		return fmt.Errorf("cluster: Config.Seeds: %w", err)
	}
	for _, family := range []string{"ip4", "ip6"} { // one node may have an address of each family
		if ips, err := names.LookupNetIP(ctx, family, host); err == nil && len(ips) > 1 {
			return fmt.Errorf("cluster: Config.Seeds: %s has %d addresses, and a seed must be one node; "+
				"for many, set Config.Discovery to cluster.DNS{Host: %q, Port: %s}; for one, give the address that it advertises",
				seed, len(ips), host, port)
		}
	}
	return nil
}

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
