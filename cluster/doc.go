// Package cluster makes actor systems on several nodes one cluster: it knows who is a
// member, notices who does not answer, decides who goes on when the network is split, and
// elects where the one instance of a singleton runs.
//
//	node, err := cluster.Start(ctx, cluster.Config{
//		Name:  "shop",
//		Bind:  "10.0.0.1:7355",
//		Seeds: []string{"10.0.0.1:7355", "10.0.0.2:7355", "10.0.0.3:7355"},
//	})
//	if err != nil { … }
//	defer node.Leave(ctx)
//	ref := actor.Spawn(node, behaviors.Singleton(coordinator), "coordinator")
//
// # What holds
//
//   - A member is an incarnation: a process that is started again, and a node that
//     rejoins, is another member at the same address ([ID]).
//   - Within an incarnation a status only moves forward: joining, up, leaving, exiting,
//     down, removed. What nodes know merges in any order, late or twice, to the same; who is
//     removed is never revived.
//   - A member becomes up, with a number one higher than any before, only when all members
//     agree on who is a member and all are reachable. So whoever is up knows everybody
//     else who is up.
//   - A member that is unreachable stays what it is, and what runs there is not started
//     elsewhere, until it is down: by the downing strategy, by [Node.Down], by its own
//     departure, or because another process lives at its address.
//   - Leader and hosts are chosen among those who are up by an order that does not regard
//     reachability ([LeaderElection]); nodes with the same view choose the same.
//   - Of two sides of a split at most one goes on. With [downing.KeepMajority] and
//     [downing.KeepOldest] there is an exception: when a member is being taken down in the
//     very moment of the split, both may, until they meet again, and the smaller dissolves.
//     What must not happen twice even then needs a fence (see package singleton), or
//     [downing.StaticQuorum] or [downing.LeaseMajority].
//
// # In plain words
//
// A node that starts asks all seeds. Whoever is a member lets it in, as joining. If there
// is no cluster, the first seed founds one, but only when each other seed has said that it
// is in none, or refuses connections: a seed that does not answer at all may well be in
// one. So a cluster does not form while the host of a seed is away. Start that seed, or restart
// one of the others with a list that begins with itself and leaves the lost one out. A node
// that runs can be told that a seed is gone for good ([Node.FoundWithout]), and one that is
// started can found a cluster by force ([Config]'s ForceForm). What a node waits for is in
// [View], in the log, and in the error of [Start].
//
// Where addresses are not known beforehand, [Config]'s Discovery finds them while the node
// runs, through DNS for instance: see package discovery. Then the lowest address founds,
// when enough nodes have been found.
//
// Each member sends heartbeats to every other one, as datagrams and over TCP: the first
// copy to arrive counts. From thirteen members on each is observed by nine others, so that
// the cost per node stays the same however large the cluster is. The silence between
// heartbeats feeds a phi-accrual detector (package phi); where the address of a member
// refuses connections, as its process has died, nobody waits for that. With the heartbeats
// goes a sum of what the sender knows, and who else is known to know the same members; who
// knows something else asks.
// News spread by direct messages and through memberlist, which does nothing but that:
// what it believes about who is alive counts for nothing.
//
// When somebody has been unreachable for as long as the strategy asks (three seconds,
// unless set), the first member of each side decides for its side: to go on without the
// others, or to go down. A node that is down, or was asleep and is told so, stops its
// singletons, and joins again as a new incarnation; its actor system and its other actors
// live on. Members greet, every two seconds, the addresses where a member is missing, a few
// at a time, so a cut of any length heals by itself.
//
// Times with the default settings on a local network: a killed node is unreachable after
// at most 0.86 s, and what ran on it starts elsewhere after some 4 s, if it is fenced;
// 13 s later if not. A process that is started again at the same address within that
// time takes the place of the old one at once. The times that follow from a configuration
// are logged at the start.
//
// # Two clusters
//
// Two clusters of one name arise when the first seed is started where it cannot reach the
// others, with itself as the only seed; by force; and when two nodes are found by nobody
// but themselves, and MinSeeds allows it. When a member of one hears of the other, the one
// with fewer members that are up dissolves: its nodes go down and join the other one.
//
// # From outside
//
// [Dial] connects a program that is no member: a [Client] has actors of its own, tells and
// asks those of the cluster, finds services by [Lookup] and singletons by [SingletonRef],
// and follows the members. It needs no port of its own. File docs/client.md has the rest.
//
// # Security
//
// With [Config.TLS] or [Config.Secret] all that nodes say to each other is encrypted, and
// only nodes that have proved who they are, or that they have the secret, are heard.
// Without either, whoever reaches the port of a node can do what a node can. Nodes of
// another cluster name or protocol version are refused in any case. A node that is not
// trusted by a seed fails to start, and one that was a member keeps asking. File
// docs/security.md says how to make certificates and secrets, how to change them while the
// cluster runs, and what each way protects against.
//
// A member is trusted. Nobody but members can make membership change: what memberlist
// believes is a hint, and a table counts only if it comes from a member that is not down.
//
// # Testing
//
// Package testkit/clustertest runs whole clusters in one process and in virtual time. In
// tests of your own that look for leaked goroutines, mind that those of memberlist end up to
// some twelve seconds after the node has.
//
// Membership itself is a pure function of events and time; the tests of package membership
// simulate it through random histories of crashes, splits, pauses and departures:
//
//	go test ./cluster/membership -run RandomHistories -histories 1000 -seed 1
package cluster
