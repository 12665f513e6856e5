package placement

import "github.com/understudy-go/understudy/cluster/internal/home"

// The coordinator's knowledge of the cluster. go doc shows the fields and methods under the path
// cluster/internal/home.
type (
	// A View is an immutable snapshot of the cluster as the coordinator knows it. A very large View
	// is read in several parts, which may differ in time; see [Coordinator.View]. Nodes is its
	// field; Alive, Find(label) and Node(name) are its methods.
	View = home.View

	// A Node is a member of the cluster as the coordinator knows it. Alive, HasRole(role) and
	// Runs(label) are its methods; Name, Address, Roles, Meta, Up, Reachable, Ready, Draining,
	// Actors and AppVersion are among its fields.
	Node = home.Node
)
