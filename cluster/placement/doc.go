// Package placement runs the actors of an application on a cluster: it decides on which node each
// actor runs, starts it there, and places it again when a node fails or leaves. Actors are
// described by specs, which a coordinator keeps in a journal.
//
// This package is experimental: a minor release may change it.
//
//	var storage = placement.NewType[Volume, Request]("storage-agent")
//
//	coordinator, err := placement.Start(node, placement.Config{ // on every node
//		Factories: []placement.Factory{storage.Factory(func(v Volume) actor.Behavior[Request] {
//			return newStorage(db, v) // db belongs to this node
//		})},
//	})
//	…
//	decision, err := coordinator.Submit(ctx, storage.Spec("storage/photos", Volume{…}).
//		WithConstraints(placement.Constraints{Meta: map[string]string{"volume": "photos"}}).
//		WithCrashStrategy(placement.WaitForReturn(30*time.Second)))
//	…
//	photos := storage.Ref(node.System, "storage/photos") // an ActorRef, wherever the actor runs
//
// # Where an actor runs
//
// An actor runs on a node that its [Constraints] allow. If there are several, the [Strategy]
// chooses the one with the highest score. If no node is eligible, Submit returns a
// [*NoEligibleNodesError], and an actor that was placed before waits for a node.
// [Coordinator.Explain] returns how each node would do.
//
// # Which node decides
//
// The coordinator decides. It is a singleton on the node that [Config.Election] chooses. It is
// event-sourced in cluster.Config.Journal, so the next coordinator knows all specs, where each
// actor was, and which nodes are expected back. Before a new coordinator does anything, it asks all
// nodes which actors they run.
//
// # When a node fails
//
// The [CrashStrategy] of each spec says whether its actor is placed on another node, waits for the
// node's return, or is removed. A node that leaves is drained first. docs/placement.md has diagrams
// and all settings.
//
// # Guarantees
//
//   - A submitted spec is not lost, unless the journal is.
//   - Among nodes that can reach each other an actor runs at most once. It is started on another
//     node when it has terminated; or when its node is no longer a member and
//     [Config.RemovalMargin] has passed, or another process has taken the node's name.
//   - When nothing changes any more, each spec for which a node is eligible runs on exactly one
//     node, and its constraints hold. Simulations check this under random faults.
//   - Each start has one outcome: the actor runs; or the start has failed and is repeated later, on
//     another node if possible; or the node is gone. Lost messages are sent again.
//   - The generation of a singleton's instance is greater than those of all instances before it, on
//     any node and under any coordinator, as long as all share cluster.Config.Journal.
//
// On a node that was paused, or partitioned for longer than the margin, an actor may still run
// after it has been started on another node. Generations fence the writes of singletons, and the
// journal fences event-sourced actors. The state of an actor does not move with it: the actor
// starts with the state of its spec, unless it stores its state elsewhere.
//
// # Singletons
//
// behaviors.Singleton needs no coordinator: every node declares the singleton, and it moves within
// milliseconds. A managed singleton, [Coordinator.StartSingleton], is declared while the
// application runs. It has an [Anchor], which names its node; it moves on request; and its
// generations are in the journal, so they keep growing even after the whole cluster has been
// stopped.
//
// # Testing
//
// Whole clusters run in virtual time with testkit/clustertest, and its WithJournal for a
// journal.NewMemory that all nodes share.
package placement
