// Package home is for coordinators: singletons that decide which actor runs on which node of the
// cluster, such as the one of placement. It has what they share, and knows nothing of what runs. It
// is pure: it starts no goroutine, reads no clock and does no I/O.
//
// An actor is known by a label. [Nodes] has what a coordinator knows: the members of the cluster,
// the places of actors on them, and the requests that have not been answered. A [Workload] decides
// where the actor of each of its labels runs, requests it with [Nodes.Start] and [Nodes.Stop], and
// is told what happens. [Nodes.Step] is the loop of all coordinators: it takes in an input, and has
// the workloads review what it concerns. Requests are repeated until they are answered or the node
// is lost. Before it starts anything, a new coordinator asks all nodes what they run; see
// [Nodes.Settled].
//
// An [Agent] decides which actors one node starts and stops at the coordinator's request. The
// messages between the two are in messages.go. Each carries the epoch of its coordinator, so that
// agents ignore a replaced coordinator. Package shell runs agents in a cluster.
//
// A [Record] is all that the next coordinator knows about a label. The facts of [Nodes.Facts] must
// be durable before the effects of [Nodes.Take] are carried out. This package stores nothing: its
// user stores the facts, and keeps a [Ledger] of them.
package home
