package remote

import (
	"cmp"
	"strconv"
)

// A NodeID identifies one incarnation of a node. A process that restarts at the same address, and a
// node that rejoins after it was down, gets another NodeID.
type NodeID struct {
	_           struct{} `cbor:",toarray"`
	Address     string   // host:port, as the node advertises itself
	Incarnation uint64   // random: it does not show which of two is the later
}

// String returns "host:port#incarnation", with the incarnation in hexadecimal.
func (id NodeID) String() string { return id.Address + "#" + strconv.FormatUint(id.Incarnation, 16) }

// Compare orders by address, then by incarnation.
func (id NodeID) Compare(o NodeID) int {
	return cmp.Or(cmp.Compare(id.Address, o.Address), cmp.Compare(id.Incarnation, o.Incarnation))
}
