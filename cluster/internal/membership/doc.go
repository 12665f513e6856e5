// Package membership is the membership protocol of one node as a pure state machine: it takes
// inputs and the time, and returns actions. It starts no goroutine, opens no connection, reads
// no clock and draws no random numbers. Package cluster runs it, and has types of its own for what
// users see.
//
// [Machine.Step] handles one [Input], and returns the [Action]s that its shell must execute in
// order. A [View] holds what a node knows of its cluster.
//
// The tests of this package simulate whole clusters: random histories of crashes, splits,
// pauses and departures, in which invariants must hold at every moment. The simulations have
// one goroutine, so the race detector finds nothing in them.
//
//	UNDERSTUDY_EFFORT=1000 go test ./cluster/internal/membership -run RandomHistories -seed 1
package membership
