package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
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
