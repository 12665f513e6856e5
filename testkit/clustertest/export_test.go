package clustertest

import (
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Network returns what is under the cluster, for faults that only its own tests need.
func (c *Cluster) Network() *memnet.Network { return c.net }

// Config returns what a node of that name is started with.
func (c *Cluster) Config(name string) cluster.Config { return c.config(name, nil) }
