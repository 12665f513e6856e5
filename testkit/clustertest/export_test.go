package clustertest

import (
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Network returns what is under the cluster, for faults that only its own tests need.
func (c *Cluster) Network() *memnet.Network { return c.net }

// Config returns what a node of that name is started with.
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
