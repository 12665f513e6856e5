// Package table has the table of shards: which node is the home of each shard of each type. It is
// pure.
//
// The coordinator has a [Book]. It sends each node an [Update] with what has changed since the last
// one that the node has acknowledged, and repeats it until the node acknowledges it. A node has a
// [Table]. A node that knows nothing of the coordinator's changes gets the whole table, which takes
// a few KiB.
//
// Changes are numbered by the coordinator, and the numbers of a coordinator begin again at 1. An
// update therefore has the coordinator's epoch, and a table takes updates of the highest epoch that
// it has seen.
package table
