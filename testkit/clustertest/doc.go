// Package clustertest runs whole clusters in one process, over an in-memory network with faults:
// partitions, delays, losses, crashes. Use it to test what your actors do when nodes fail. In a
// bubble of testing/synctest, ten minutes of cluster time take a fraction of a second:
//
//	func TestOneTickerThroughAPartition(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			c := clustertest.Start(t, 5) // nodes "n1" to "n5", all up
//			census := testkit.NewCensus(t)
//			for _, n := range c.Nodes() {
//				actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
//			}
//			c.AwaitQuiet()
//			c.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
//			time.Sleep(10 * time.Minute)
//			require.Equal(t, 1, census.Running(), "only the majority side has one")
//			c.Heal()
//			c.AwaitQuiet()
//			require.Len(t, c.Node("n1").View().Members, 5)
//		})
//	}
//
// This package is experimental: a minor release may change it.
//
// Memberlist, the failure detector, the codec and the connections are the real ones; only the
// sockets are simulated. Runs do not repeat exactly, because memberlist uses its own source of
// random numbers: assert outcomes and bounds, not traces.
//
// Messages within a node are encoded as between nodes, and the test fails if one cannot be
// encoded; [WithoutEncoding] turns that off. [Cluster.Kill] and [Cluster.Crash] end a node like
// the end of its process: nothing is flushed or handed over.
//
// Registrations with a receptionist and subscriptions to a topic reach other nodes a moment later:
// sleep for a second of virtual time before relying on them. Resources of the actors, such as a
// journal, must outlive the cluster, which ends in the test's cleanups: open them before Start,
// and close them with t.Cleanup, not with defer.
//
// Outside bubbles everything works in real time.
//
// # Chaos
//
// A [Chaos] draws random faults: partitions, one-way cuts, crashes, restarts, pauses, losses,
// duplicates and wrong clocks, many at once. The test states what must hold. That one cluster
// remains in the end is always checked:
//
//	func TestTheTickerInChaos(t *testing.T) {
//		clustertest.Chaos{Nodes: 5, Faults: 8}.Run(t, func(r *clustertest.Round) {
//			census := testkit.NewCensus(r)
//			r.EachNode(func(n *cluster.Node) {
//				actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
//			})
//			r.Check(clustertest.OneRunsFinally(census), clustertest.MajoritySurvives())
//		})
//	}
//
// A run in which no node sends messages of actors to another during a fault fails as vacuous,
// unless [Chaos.MembershipOnly] is set. A story that uses actors itself calls [Round.Begin] first.
//
// [Appends] is a story for entities, such as those of package cluster/sharding, and has a law:
// each acknowledged entry is there once.
//
// When something does not hold, the test prints the seed, the schedule of faults, and the smallest
// failing schedule that it could find, with the flags to run it again. To run more seeds:
//
//	go test -run TheTickerInChaos -chaos.count=200
//
// Before Go 1.27 the race detector can crash a bubble in which very many timers fire at once
// (golang/go#76691): with -race, use at most about ten nodes.
package clustertest
