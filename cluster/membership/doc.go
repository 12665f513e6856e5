// Package membership is the membership protocol of one node as a pure state machine: inputs
// and the time go in, actions come out. It starts no goroutine, opens no connection, reads
// no clock and draws no numbers. Package cluster runs it, and gives its types to users
// under names of its own; programs import that.
//
// [Machine.Step] handles one [Input], and returns the [Action]s that its shell has to do in
// order. What a node knows of its cluster is in a [View].
//
// The tests of this package simulate whole clusters: random histories of crashes, splits,
// pauses and departures, in which laws must hold at every moment. They have one goroutine,
// so the race detector finds nothing here; those that simulate for seconds are skipped under
// it.
//
//	go test ./cluster/membership -run RandomHistories -histories 1000 -seed 1
package membership
