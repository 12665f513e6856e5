// Package clustertest runs whole clusters in one process, over a network in memory whose
// links can be cut, delayed and made to lose. In a bubble of testing/synctest ten minutes
// of cluster life take a fraction of a second:
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
// What runs is the real thing: memberlist, the failure detector, the codec, the
// connections; only the sockets are not. Histories are not repeated exactly from run to
// run, as memberlist draws from a source of its own: assert outcomes and bounds, not
// traces.
//
// Messages within a node are carried as between nodes, and the test fails when one cannot be
// encoded; [WithoutEncoding] turns that off. [Cluster.Kill] and [Cluster.Crash] end a node as
// the end of its process does: nothing is flushed, handed over or given back.
//
// What is registered with a receptionist, or subscribed to a topic, is known on the other nodes a
// moment later: sleep for a second of virtual time before relying on it. What the actors use, such
// as a journal, must outlive the cluster, which ends with the test's cleanups: open it, and give
// its Close to t.Cleanup, before Start; a deferred Close comes too early.
//
// It works outside of bubbles too, in real time.
//
// # Chaos
//
// A [Chaos] makes up what goes wrong: partitions, one-way cuts, crashes, restarts, pauses,
// loss, duplicates, clocks that are off, many of them at once. The test says what must
// hold; that in the end there is one cluster is checked anyway:
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
// A run in which no node tells another anything while a fault goes on fails as vacuous,
// unless [Chaos.MembershipOnly] says that the story is about membership alone. A story that
// works through actors itself calls [Round.Begin] first.
//
// When something does not hold, the test prints the seed, the schedule of faults, and the smallest
// schedule that it could find that fails too, with the flags that run it. More seeds:
//
//	go test -run TheTickerInChaos -chaos.count=200
//
// Before Go 1.27 the race detector can crash a bubble in which very many timers fire at
// once (golang/go#76691): with -race keep to ten nodes or so.
package clustertest
