// Package shardstatus has what status pages show of sharded types of entities. Package sharding
// provides it to package cluster, which must not import it.
package shardstatus

import "context"

// A Type is a type of entities as one node knows it. The JSON names of its fields are a stable
// interface; docs/status.md describes them.
type Type struct {
	Name    string `json:"name"`
	Role    string `json:"role"` // which nodes host it; "" for all
	Shards  int    `json:"shards"`
	Hosts   bool   `json:"hosts"`   // this node takes shards of it
	Refused string `json:"refused"` // why this node takes no part, or ""
	Lease   string `json:"lease"`   // LeaseHeld, or why this node does not have it; "" without WithLease

	Homes    []Home `json:"homes"`    // the nodes that have shards, sorted by name
	Homeless int    `json:"homeless"` // shards of which this node knows no home

	Here     int    `json:"here"`     // shards that run on this node
	Leaving  int    `json:"leaving"`  // those of them that are about to leave
	Awake    int    `json:"awake"`    // entities on this node
	Held     int    `json:"held"`     // messages told on this node that wait for a shard
	Returned uint64 `json:"returned"` // messages of other nodes that have gone back, because their shard was elsewhere
	Failures uint64 `json:"failures"` // of entities on this node

	Dropped map[string]uint64 `json:"dropped"` // messages that have become dead letters here, by reason
}

// LeaseHeld is [Type.Lease] while the node has its lease.
const LeaseHeld = "held"

// A Home is a node that has shards of a type.
type Home struct {
	ID        string `json:"id"`   // of the member, host:port#incarnation
	Name      string `json:"name"` // of the member; "" if it is no member any more
	Reachable bool   `json:"reachable"`
	Shards    int    `json:"shards"`
}

// A Source returns the types of a node, sorted by name. It asks no other node, and does not block.
type Source func() []Type

// Homeless are the shards of a type that run nowhere for one reason.
type Homeless struct {
	_      struct{} `cbor:",toarray"`
	Type   string   `json:"type"`
	Why    string   `json:"why"`
	Shards []int    `json:"shards"` // their numbers, in order; at least one
}

// An Asker asks the coordinator, wherever it runs, which shards run nowhere, and why. The answer is
// sorted by type.
type Asker func(ctx context.Context) ([]Homeless, error)
