package allot

import (
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/remote"
)

// A StartState is what a node needs to start a shard besides its label: the state of a request.
type StartState struct {
	_      struct{}        `cbor:",toarray"`
	Lease  uint64          // the token of the lease under which it must start the shard; 0 for none
	Shards int             // how many daemons the type has; 0 for other types
	Fenced bool            // the node must run event-sourced entities only
	Former []remote.NodeID // the nodes on which it may have run since it began for the last time
}

// state returns the state of a request to start the shard.
func (sh *shard) state() []byte {
	s := StartState{Lease: sh.Lease, Fenced: sh.fenced(), Former: sh.former}
	if sh.typ.Mode == table.Daemons {
		s.Shards = sh.typ.Shards
	}
	return home.Encode(s)
}

// ParseState is the inverse. It returns the zero StartState for any other data.
func ParseState(state []byte) StartState { return home.Decode[StartState](state) }
