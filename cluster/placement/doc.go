// Package placement runs an application on a cluster: it is told which actors are to exist,
// decides which node runs each, and sees that they do, whatever happens to the nodes.
//
//	var storage = placement.NewType[Volume, Request]("storage-agent")
//
//	coordinator, err := placement.Start(node, placement.Config{ // on every node
//		Journal: journal,
//		Factories: []placement.Factory{storage.Factory(func(v Volume) actor.Behavior[Request] {
//			return newStorage(db, v) // with what it needs of this node
//		})},
//	})
//	…
//	decision, err := coordinator.Submit(ctx, storage.Spec("storage/photos", Volume{…}).
//		WithConstraints(placement.Constraints{Meta: map[string]string{"volume": "photos"}}).
//		WithCrashStrategy(placement.WaitForReturn(30*time.Second)))
//	…
//	photos := storage.Ref(node.System, "storage/photos") // an ActorRef, wherever it runs
//
// # Three questions
//
// Where does an actor run? On a node that its [Constraints] allow; of several, on the one
// that the [Strategy] scores highest. Without any there is a [*NoEligibleNodesError], and
// what has been placed before waits for one. [Coordinator.Explain] says how each node would
// do.
//
// Who decides? The coordinator, an actor that exists once in the cluster, on the node that
// the [Election] chooses. It is a singleton of this project, event-sourced in
// [Config.Journal]: the next one knows all specs, where each was, and who is waited for,
// and asks all nodes what they run before it does anything.
//
// What happens when a node fails? What the [CrashStrategy] of each spec says: it is placed
// elsewhere, waits for the node's return, or is forgotten. A node that leaves in good order
// is drained first. docs/placement.md has the pictures, and all settings.
//
// # What holds
//
//   - A spec that was submitted is not lost, as long as the journal is not.
//   - Among nodes that can reach each other an actor runs at most once. It is started
//     elsewhere when it has terminated, or when its node is no member any more and
//     [Config.RemovalMargin] is over, or another process has its name.
//   - When nothing changes any more, each spec for which there is an eligible node runs on
//     exactly one, and its constraints hold; simulations check that over random faults.
//   - Each start has one outcome: it runs, or it has failed and is tried again later,
//     elsewhere if possible, or its node is gone. Lost messages are sent again.
//   - The generation of a singleton's instance is greater than those of all before it, on
//     any node and under any coordinator, as long as all share the [Config.Generations].
//
// What does not hold: on a node that was paused, or cut off for longer than the margin, an
// actor may still run when it has been started elsewhere. Singletons have generations for
// that, event-sourced actors their journal. The state of an actor is not moved with it:
// it begins with that of its spec, unless it keeps its state elsewhere.
//
// # Singletons
//
// behaviors.Singleton needs no coordinator: each node says what runs, and it moves in
// milliseconds. A managed singleton, [Coordinator.StartSingleton], is for what is declared
// while the application runs: it has an [Anchor], moves when it is told to, and its
// generations come from one store, so they grow even when the whole cluster was stopped.
//
// # Testing
//
// Whole clusters run in virtual time, with testkit/clustertest and persistence/memory: give
// all nodes the same journal.
package placement
