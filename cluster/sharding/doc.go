// Package sharding runs many entities by id: each is one actor in the whole cluster, starts with
// its first message, and ends when nobody needs it. A singleton is one actor in the cluster; a
// sharded type is one actor for each id.
//
// This package is experimental: a minor release may change it.
//
//	carts, err := sharding.Start(node, "cart", func(e sharding.Entity) actor.Behavior[CartMsg] { // on every node
//		return behaviors.EventSourced(e.PersistenceID(), journal, Cart{}, onEvent, onCommand)
//	})
//	…
//	cart := carts.Ref("42") // an actor.ActorRef[CartMsg], wherever the entity is
//	cart.Tell(Add{SKU: "tea"})
//	total, err := actor.Ask(ctx, cart, func(r actor.ActorRef[int]) CartMsg { return Total{r} })
//
// Start also takes an *actor.System. All entities are then in that system, which is useful in tests
// and in programs that are not a cluster yet.
//
// # Where an entity is
//
// The ids of a type are divided into a fixed number of shards, see [Shards]. A coordinator, which
// is a singleton, allots each shard to a node, and sends all nodes the table of homes. So a message
// goes to the right node at once, and messages go on while there is no coordinator. A node that
// gets a message for a shard that it does not have gives it back; the sender's node keeps it until
// it knows the home.
//
// A shard moves when its node leaves. Shards also move to balance their numbers: every 10 s, at
// most a tenth of those of a type. They do so only while all members are up and reachable, have the
// same version of the application, and nothing else moves. They also wait until no node has joined
// or left for 30 s, so that a rolling restart moves few shards more often than it must. Shards
// without entities move to nodes that join at once, unless a node has left in the last 30 s.
//
// # Guarantees
//
//   - Among nodes that can reach each other an entity runs at most once. A shard starts on another
//     node when its entities have ended; or when its node is no longer a member, and, except for
//     event-sourced types, the removal margin has passed. [WithLease] takes the place of the
//     margin: an entity then runs at most once whether or not nodes can reach each other.
//   - Each start of a shard has a higher generation than those before, with which event-sourced
//     entities claim their journals. A node that was paused or partitioned can therefore neither
//     write for an entity that runs elsewhere, nor claim it back: its entities end, and their
//     messages go to the rightful node.
//   - Messages of one sender to one entity stay in order, also when the entity passivates or its
//     shard moves. What an entity has not handled when it ends wakes its next incarnation.
//   - A message is lost if the node crashes on which it waits, and if an entity fails while it
//     handles it. Messages that waited for an entity that fails are dead letters with
//     [ErrEntityFailed], so an Ask ends with the reason. The entity is started again, by the next
//     message, after one second, or up to a minute if it fails again.
//   - While a shard moves or has no home, each node keeps up to [DefaultBuffer] messages for it.
//
// The state of an entity does not move with it. Use behaviors.EventSourced or
// behaviors.DurableState for what must survive.
//
// # Passivation
//
// An entity ends when it has had no message for two minutes, see [PassivateAfter], or when it stops
// itself or calls [Entity.Passivate]. [MaxEntities] limits how many are awake. What arrives
// meanwhile starts it again. With [Remember], entities stay awake, and are started without a
// message. A [Daemon] does so too, and has a number in place of an id.
//
// # Delivery, projections, topics
//
// delivery.ProducerByID delivers messages to entities until each is confirmed. projection.OfIDs
// with [OfType] follows the events of a type. An entity that subscribes to a topic, or registers as
// a service, uses ctx.Self(): that ends with the incarnation, and begins again with the next one.
//
// # Testing
//
// The factory is a plain function, which a test can call with an [Entity] of its own. Start takes
// the system of a testkit. clustertest.Appends checks a type under random faults.
//
// # Singleton, sharding or placement
//
// behaviors.Singleton is for one job. Sharding is for many things of a kind that are addressed by
// id and need not run all the time. Package cluster/placement is for tens to thousands of named
// actors that run all the time, with constraints on their nodes.
package sharding
