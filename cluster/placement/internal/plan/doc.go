// Package plan decides what the coordinator of placement does, and what the agents of the nodes do.
// It is pure: it starts no goroutine, reads no clock and does no I/O.
//
// A [Planner] takes inputs, each with the current time, and returns facts and effects. The shell
// stores the facts in the journal, and then carries out the effects. The planner has three parts.
// Part one, nodes, knows the members of the cluster and the places of actors on them. The other two
// are workloads, which use it: specs keeps the actor of each [Spec] running on one node; singletons
// keeps each [SingletonSpec] at its [Anchor], with generations from a source. After each input the
// workloads compare the desired state with the known state, and act on the differences. The order
// of inputs therefore does not matter, and inputs may be repeated.
//
// An [Agent] decides which actors one node starts and stops at the coordinator's request. The
// messages between the two are in messages.go. Requests are repeated until they are acknowledged.
// Each carries the epoch of its coordinator, so that agents ignore a replaced coordinator.
//
// The types that users see, such as [Spec], [Node] and [Strategy], have aliases in package
// placement.
package plan
