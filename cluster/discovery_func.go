package cluster

import "context"

// DiscoveryFunc is a [Discovery] of your own, for instance a query to a registry.
type DiscoveryFunc func(ctx context.Context) ([]string, error)

// Find calls f.
func (f DiscoveryFunc) Find(ctx context.Context) ([]string, error) { return f(ctx) }
