package main

import (
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
)

// gatewayNode is the name of the node that leads; the others are stores.
const gatewayNode = "gateway"

// volumes says which volume each store has.
var volumes = map[string]string{"store-a": "photos", "store-b": "docs", "store-c": "docs"}

// equip gives a node its roles and its metadata, by its name.
func equip(cfg *cluster.Config) {
	if cfg.NodeID == gatewayNode {
		cfg.Roles = []string{"edge"}
		return
	}
	cfg.Roles, cfg.Meta = []string{"worker"}, map[string]string{"volume": volumes[cfg.NodeID]}
}

// takePart makes a node take part in the placement: the same on all of them.
func takePart(node *cluster.Node, journal persistence.Journal) (*placement.Coordinator, error) {
	return placement.Start(node, placement.Config{
		Journal:       journal,
		Factories:     []placement.Factory{storageAgent.Factory(newStorage)},
		Election:      placement.Oldest("edge"),
		RemovalMargin: -1, // agents only read: two of them for a moment do no harm
	})
}
