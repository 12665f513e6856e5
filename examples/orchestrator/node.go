package main

import (
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
)

// gatewayNode is the name of the node that leads; the others are stores.
const gatewayNode = "gateway"

// volumes says which volume each store has.
var volumes = map[string]string{"store-a": "photos", "store-b": "docs", "store-c": "docs"}

// equip sets the roles and metadata of a node, by its name.
func equip(cfg *cluster.Config) {
	if cfg.NodeID == gatewayNode {
		cfg.Roles = []string{"edge"}
		return
	}
	cfg.Roles, cfg.Meta = []string{"worker"}, map[string]string{"volume": volumes[cfg.NodeID]}
}

// takePart starts placement on a node, in the same way on all of them.
func takePart(node *cluster.Node) (*placement.Coordinator, error) {
	return placement.Start(node, placement.Config{
		Factories:     []placement.Factory{storageAgent.Factory(newStorage)},
		Role:          "edge",
		RemovalMargin: -1, // agents only read, so two of them for a moment do no harm
	})
}
