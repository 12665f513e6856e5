// Package incarnation draws the numbers of incarnations and of actors, so that it can be seen
// from the number of an actor whether a process had it that is known to be gone.
//
// The upper half of an incarnation stands for the process, and stays when that becomes a member
// under another incarnation. The actors of the process count from a number that begins with it.
package incarnation

import (
	"crypto/rand"
	"encoding/binary"
)

const (
	processBits = 32 // the upper ones of an incarnation
	actorBits   = 28 // of the first number of a process, below those of the process
	actorStep   = 12 // the lowest of these, which are 0: a small number of actors needs few digits
	spread      = 40 // of a count: how many actors, and asks, a process is taken to have had at most
)

// Draw draws the first incarnation of a process.
func Draw() uint64 { return random() | 1 | 1<<processBits }

// Again draws another incarnation of the process that had the one before.
func Again(before uint64) uint64 {
	return before>>processBits<<processBits | random()>>processBits | 1
}

// FirstActor returns the number from which the actors of a process count, which differs from call
// to call. It is 0 for incarnations that say nothing of their process, as those that people
// choose.
func FirstActor(incarnation uint64) uint64 {
	process := incarnation >> processBits
	if process == 0 {
		return 0
	}
	return process<<actorBits | random()>>(64-actorBits)>>actorStep<<actorStep
}

// HasActor reports whether the actor of a number is of the process of an incarnation, as far as
// numbers can tell: of the actors of other processes at the address one in 2^19 passes for one. It
// is false for incarnations that say nothing of their process.
func HasActor(incarnation, number uint64) bool {
	process := incarnation >> processBits
	return process != 0 && number-process<<actorBits < 1<<spread
}

// SameProcess reports whether two incarnations at one address are of the same process. It is
// false where they do not say.
func SameProcess(a, b uint64) bool { return a>>processBits == b>>processBits && SaysProcess(a) }

// SaysProcess reports whether anything can be told of the process of an incarnation.
func SaysProcess(incarnation uint64) bool { return incarnation>>processBits != 0 }

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}
