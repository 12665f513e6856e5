// Package topic publishes messages to subscribers: a message that is published on a topic, on any
// node of the cluster, reaches every actor that has subscribed to the topic, on any node.
//
//	var prices = topic.New[Price]("prices")
//
//	cancel := prices.Subscribe(system, ref)
//	prices.Publish(system, Price{"apples", 3})
//
// A topic is a name and a type of messages. Nothing has to be started or stopped: a topic uses
// memory only on nodes that have subscribers.
//
// # Guarantees
//
//   - A subscriber gets each message at most once, however often it subscribes; within a node,
//     exactly once.
//   - Messages of one publisher (a goroutine or an actor) arrive at each subscriber in the order in
//     which they were published. Messages of different publishers are not ordered: two subscribers
//     may see them in different orders.
//   - When Subscribe has returned, the subscriber gets the messages that are published on its node.
//     It gets those of other nodes as soon as these have heard of the topic's first subscriber on
//     the node; see "How soon" of package receptionist. No message is kept for later subscribers.
//   - A subscription ends with its actor (not with a restart), with its node, and by cancel.
//   - A message crosses the network once for each other node that has subscribers. Other nodes get
//     nothing.
//   - A message without any subscriber is a dead letter with [ErrNoSubscribers]. A message that
//     cannot be sent to a node, for instance because the node has not answered for some seconds, is
//     a dead letter of package remote.
//
// A client of a cluster (cluster.Dial) is not a node: on it, Subscribe panics, and Publish makes
// dead letters with [ErrOutside]. Let an actor of the cluster subscribe or publish for it.
//
// Messages that cross the wire need a name: see actor.RegisterType.
//
// # One name, two types
//
// A topic has one type of messages. Using its name with another type on the same node panics. Nodes
// that disagree about the type get no messages from each other. Each node that uses the topic logs
// that once, and publishes a receptionist.Mismatch whose service is "topic:" and the name.
//
// # Testing
//
// Topics work without a cluster: in a system of testkit the subscribers can be probes. Package
// testkit/clustertest has clusters in virtual time.
package topic
