// Package plan decides what the coordinator of placement does, and what the agents of the nodes do.
// It is pure: it starts no goroutine, reads no clock and does no I/O.
//
// A [Planner] takes inputs, each with the current time, and returns facts and effects: facts are
// stored in the journal, and then effects are carried out. It has three parts. The nodes know the
// members of the cluster, and the places of actors on them. Two workloads use them: specs keeps the
// actor of each [Spec] running on one node, singletons keeps each [SingletonSpec] at its [Anchor],
// with generations from a source. After each input the workloads compare what is wanted with what
// is known and do what is missing, so the order of inputs does not matter, nor does a repeated one.
//
// An [Agent] decides which actors one node starts and stops, as the coordinator has requested. The
// messages between the two are in messages.go: requests are repeated until they are acknowledged,
// and each carries the epoch of its coordinator, so that agents ignore a replaced one.
//
// The types that users see, such as [Spec], [Node] and [Strategy], have their names in package
// placement as well.
package plan
