// Package plan decides what the coordinator of placement does. It is pure: it starts no goroutine,
// reads no clock and does no I/O.
//
// A [Planner] takes inputs, each with the current time, and returns facts and effects. The shell
// stores the facts in the journal, and then carries out the effects. What is known of the nodes and
// of the actors on them is in package home. The planner has two workloads, which use it: specs
// keeps the actor of each [Spec] running on one node; singletons keeps each [SingletonSpec] at its
// [Anchor], with generations from a source. After each input the workloads compare the desired
// state with the known state, and act on the differences. The order of inputs therefore does not
// matter, and inputs may be repeated.
//
// The types that users see, such as [Spec] and [Strategy], have aliases in package placement.
package plan
