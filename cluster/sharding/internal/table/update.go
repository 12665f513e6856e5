package table

import (
	"github.com/understudy-go/understudy/remote"
)

// A Home is the node that runs a shard.
type Home struct {
	_          struct{}      `cbor:",toarray"`
	Node       remote.NodeID // zero while the shard has no home
	Generation uint64        // of the shard; each home has a greater one than the homes before
}

// A Type says what the nodes that take part must agree on.
type Type struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Shards  int
	Message string // the name of the type of messages
	Role    string // which nodes host; "" for all
	Mode    Mode
	Sourced Agreement // on what its entities are; Fits does not compare it
}

// A Mode says which entities of a type run without a message.
type Mode string

// The modes.
const (
	OnDemand   Mode = ""
	Remembered Mode = "remembered" // those that have run before
	Daemons    Mode = "daemons"    // one in each shard, whose number may change
)

// Fits reports whether a node that has the type as o can take part.
func (t Type) Fits(o Type) bool {
	if t.Mode == Daemons && o.Mode == Daemons {
		o.Shards = t.Shards
	}
	return t.sameHomes(o)
}

// sameHomes reports whether the homes of the shards of t are also those of the shards of o.
func (t Type) sameHomes(o Type) bool {
	o.Sourced = t.Sourced
	return t == o
}

// A Version numbers the changes of the table.
type Version struct {
	_     struct{} `cbor:",toarray"`
	Epoch uint64   // of the coordinator
	N     uint64   // of its changes
}

// Less reports whether v is before o.
func (v Version) Less(o Version) bool {
	return v.Epoch < o.Epoch || v.Epoch == o.Epoch && v.N < o.N
}

// An Update brings a table of version From, or a later one, to version To. If From.N is 0, it has
// the whole table.
type Update struct {
	_     struct{} `cbor:",toarray"`
	From  Version
	To    Version
	Nodes []remote.NodeID // that Homes refers to
	Types []Changes
}

// Changes are the homes of one type that have changed.
type Changes struct {
	_     struct{} `cbor:",toarray"`
	Type  Type
	Homes []Change
}

// A Change is the home of one shard.
type Change struct {
	_          struct{} `cbor:",toarray"`
	Shard      int
	Node       int // its place in the nodes of the update, from 1; 0 for none
	Generation uint64
}
