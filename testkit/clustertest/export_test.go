package clustertest

import (
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Network returns the network of the cluster, for faults that only these tests need.
func (c *Cluster) Network() *memnet.Network { return c.net }

// Config returns the configuration with which a node of that name is started.
func (c *Cluster) Config(name string) cluster.Config { return c.config(name, nil) }

// RunExample runs f as a test, and prints how it fails.
func RunExample(f func(t testing.TB)) {
	r := &recorder{}
	alone(func() { f(r) })
	r.cleanUp()
	if failure, failed, _ := r.result(); failed {
		fmt.Println(failure)
	}
}
