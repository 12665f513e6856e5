// Package allot decides on which node each shard of each type runs. It is pure: it starts no
// goroutine, reads no clock and does no I/O.
//
// A [Machine] takes inputs, each with the current time, and returns facts and effects. The shell
// stores the facts in the journal, and then carries out the effects. So no node hears of a home
// that is not stored. The shards are a workload of package home, which knows the nodes and talks
// with their agents. The table of homes, which all nodes get, is in package table.
//
// A shard is known by its label, which is the name of its type, a slash, and its number. Each time
// that a shard is allotted to a node it gets the next generation, with which entities claim their
// journals. A node that has lost a shard without knowing it can therefore not claim after the
// rightful owner.
package allot
