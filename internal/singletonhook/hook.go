// Package singletonhook is what package cluster and cluster/placement need of package singleton,
// and its users do not: the topology that a cluster shows to singletons, and the functions that
// connect the two. Importing package singleton sets the functions.
package singletonhook

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote"
)

var (
	// Attach connects the singletons of s to the cluster that l shows. It must be called once,
	// before the first singleton is spawned. Without it a singleton runs where it is spawned.
	Attach func(s *actor.System, l Locator)

	// Drain waits until no instance runs on the node of s: each has been handed over, or has
	// stopped because no other node can host it. No manager of s starts an instance under the
	// node's present incarnation any more. The other members must know that this node is leaving
	// or down, as otherwise none of them asks for the instances. Drain returns ctx.Err() when ctx
	// ends first.
	Drain func(ctx context.Context, s *actor.System) error

	// AllKnown returns what the node of s knows of every singleton that some member has a manager
	// for, sorted by name; nil without a cluster. Its cost is proportional to singletons times
	// members.
	AllKnown func(s *actor.System) []Known

	// ManagersOf returns the members that have a manager for the singleton of that name, in the
	// order of election, as far as the node of s knows; nil without a cluster.
	ManagersOf func(s *actor.System, name string) []remote.NodeID
)

// A Known is what a node knows of one singleton of its cluster, whether or not it has a manager
// for it.
type Known struct {
	Name     string
	Record   Record
	Managers []remote.NodeID // the members that have one, in the order of election
}
