package main

import (
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
)

// gatewayNode is the name of the node that runs the coordinator; the others are stores.
const gatewayNode = "gateway"

// volumes has the volume of each store.
var volumes = map[string]string{"store-a": "photos", "store-b": "docs", "store-c": "docs"}

// equip returns the configuration of a node by its name, with its roles and metadata.
func equip(cfg *cluster.Config) {
	if cfg.NodeID == gatewayNode {
		cfg.Roles = []string{"edge"}
		return
	}
	cfg.Roles, cfg.Meta = []string{"worker"}, map[string]string{"volume": volumes[cfg.NodeID]}
}

// takePart starts placement on a node, with the same settings on all of them.
func takePart(node *cluster.Node, journal persistence.Journal) (*placement.Coordinator, error) {
	return placement.Start(node, placement.Config{
		Journal:       journal,
		Factories:     []placement.Factory{storageAgent.Factory(newStorage)},
		Election:      placement.Oldest("edge"),
		RemovalMargin: -1, // agents only read, so two of them at once do no harm
	})
}
