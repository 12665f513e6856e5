// Package topic is publish and subscribe: what is published on a topic, on any node of the
// cluster, reaches every actor that has subscribed to it, on any node.
//
//	var prices = topic.New[Price]("prices")
//
//	prices.Subscribe(system, ref)
//	prices.Publish(system, Price{"apples", 3})
//
// A topic is its name and its type of messages. There is nothing to start or to stop: a
// topic costs something only where somebody has subscribed to it.
//
// # What holds
//
//   - A subscriber gets each message at most once, however often it subscribes; within a
//     node exactly once.
//   - Messages of one publisher, a goroutine or an actor, arrive at each subscriber in the
//     order in which they were published. Between different publishers there is no order:
//     two subscribers may see their messages in different orders.
//   - Who has subscribed on a node gets what is published on that node from when Subscribe
//     returns; and what other nodes publish as soon as they hear of it, see "How soon" of
//     package receptionist. Nothing is kept for those who come later.
//   - A subscription ends with its actor, not with a restart of it, by Unsubscribe, and
//     with its node.
//   - A message crosses the network once for each other node that has subscribers. Nodes
//     that have none get nothing.
//   - A message for which there is no subscriber anywhere is a dead letter, with
//     [ErrNoSubscribers]. One that cannot be sent to a node, for instance as it does not
//     answer for some seconds, is a dead letter of package remote.
//
// A client of a cluster (cluster.Dial) is no node: on it, Subscribe panics, and Publish makes
// dead letters with [ErrOutside]. Have an actor of the cluster do both for it.
//
// Messages that cross the wire need a name: actor.RegisterType.
//
// # One name, two types
//
// A topic has one type of messages. Subscribing under its name with another type on the
// same node panics. Where nodes disagree, those of another type get nothing from each
// other; each node in which the topic is used logs that once and publishes a
// receptionist.Mismatch, whose service is "topic:" and the name.
//
// # Testing
//
// It needs no cluster: in a system of testkit subscribers can be probes. Package
// testkit/clustertest has clusters in virtual time.
package topic
