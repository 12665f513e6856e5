// Package node has the identity of a node, which all packages share, and draws the incarnation
// numbers in it.
//
// The upper 32 bits of a drawn incarnation identify the process. They stay when the process joins
// the cluster again under a new incarnation, and the numbers of its actors begin with them. So the
// number of an actor shows whether it belonged to a process that is known to be gone.
package node

import (
	"cmp"
	"strconv"
)

// An ID identifies one incarnation of a node. A process that restarts at the same address, and a
// node that rejoins after it was down, gets another ID.
type ID struct {
	_           struct{} `cbor:",toarray"`
	Address     string   // host:port, as the node advertises itself
	Incarnation uint64   // random: it does not show which of two is the later
}

// String returns "host:port#incarnation", with the incarnation in hexadecimal.
func (id ID) String() string { return id.Address + "#" + strconv.FormatUint(id.Incarnation, 16) }

// Compare orders by address, then by incarnation.
func (id ID) Compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Address, o.Address), cmp.Compare(id.Incarnation, o.Incarnation))
}
