// Package node draws the incarnation numbers of nodes.
//
// The upper 32 bits of a drawn incarnation identify the process. They stay when the process joins
// the cluster again under a new incarnation, and the numbers of its actors begin with them. So the
// number of an actor shows whether it belonged to a process that is known to be gone.
package node

import (
	"crypto/rand"
	"encoding/binary"
)

const (
	processBits = 32 // the upper bits of an incarnation
	actorBits   = 28 // of the first actor number of a process, below the process's own bits
	actorStep   = 12 // the lowest of these, which are 0: a small number of actors needs few digits
	spread      = 40 // bits of a count: how many actors and asks a process has at most
)

// NewIncarnation draws the first incarnation of a process. It is never 0.
func NewIncarnation() uint64 { return random() | 1 | 1<<processBits }

// RenewIncarnation draws another incarnation for the process that has the given one.
func RenewIncarnation(before uint64) uint64 {
	return before>>processBits<<processBits | random()>>processBits | 1
}

// FirstActor returns the number from which the actors of a process count. It differs from call to
// call. It is 0 for an incarnation that does not identify its process, such as one set by hand.
func FirstActor(incarnation uint64) uint64 {
	process := incarnation >> processBits
	if process == 0 {
		return 0
	}
	return process<<actorBits | random()>>(64-actorBits)>>actorStep<<actorStep
}

// HasActor reports whether an actor number belongs to the process of an incarnation. One in 2^19
// actors of other processes at the same address is taken for one of this process. HasActor is
// false for an incarnation that does not identify its process.
func HasActor(incarnation, number uint64) bool {
	process := incarnation >> processBits
	return process != 0 && number-process<<actorBits < 1<<spread
}

// SameProcess reports whether two incarnations at one address belong to the same process. It is
// false if they do not identify a process.
func SameProcess(a, b uint64) bool {
	return a>>processBits == b>>processBits && IdentifiesProcess(a)
}

// IdentifiesProcess reports whether an incarnation identifies its process.
func IdentifiesProcess(incarnation uint64) bool { return incarnation>>processBits != 0 }

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}
