// Package cluster makes one cluster of the actor systems on several nodes. It maintains the list of
// members, detects members that do not answer, decides which side of a split continues, and elects
// the host of each singleton.
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
// # Guarantees
//
//   - A member is one incarnation of a node. A process that restarts, and a node that rejoins, is
//     another member at the same address; see [remote.NodeID].
//   - The status of an incarnation only moves forward: joining, up, leaving, exiting, down,
//     removed. The knowledge of nodes merges to the same result in any order, also late or twice. A
//     removed incarnation never becomes a member again.
//   - A member becomes up only when all members agree on the membership and all are reachable. Its
//     up-number is one higher than any before. So a member that is up knows all other members that
//     are up.
//   - An unreachable member keeps its status, and nothing that runs there starts elsewhere, until
//     it is down. It becomes down by the downing strategy, by [Node.Down], by leaving, or because
//     another process runs at its address.
//   - The leader and the hosts are chosen among the members that are up, by an order that does not
//     depend on reachability ([LeaderElection]). Nodes with the same view choose the same.
//   - At most one side of a split continues. [downing.KeepMajority] and [downing.KeepOldest] have
//     an exception: if a member is being downed at the moment of the split, both sides may continue
//     until they meet; then the smaller one dissolves. Against that, use a fence (see package
//     singleton), [downing.StaticQuorum] or [downing.LeaseMajority].
//
// # How it works
//
// A node that starts asks all seeds. Any member lets it join. If there is no cluster, the first
// seed forms one, but only when each other seed has answered that it is in no cluster, or refuses
// connections. A seed that does not answer at all may be in a cluster, so no cluster forms while
// the host of a seed is away. There are four ways out:
//
//   - start that seed;
//   - restart another seed with a list that begins with itself and leaves out the lost one;
//   - call [Node.FoundWithout] on a running node, if the lost seed is gone for good;
//   - start a node with ForceForm of [Config].
//
// [View], the log and the error of [Start] say what a node waits for.
//
// If addresses are not known in advance, Discovery of [Config] finds them while the node runs, for
// instance through DNS; see [Discovery]. Then the node with the lowest address founds the
// cluster when enough nodes have been found.
//
// Each member sends heartbeats to every other one, or, from thirteen members on, to the nine that
// observe it, so the cost per node does not grow with the cluster. Heartbeats travel as datagrams
// and over TCP; the first copy to arrive counts. The silence between heartbeats feeds a phi-accrual
// detector. If the address of a member refuses connections because its process has
// died, the member is unreachable without that wait.
//
// A heartbeat also carries a hash of the sender's table, and says which members are known to have
// the same membership. A receiver whose table differs asks for it. News spread by direct messages
// and through memberlist. Memberlist does nothing else: its own opinion of which nodes are alive
// does not change the membership.
//
// When a member has been unreachable for as long as the strategy asks (3 s by default), the first
// member of each side decides for its side: continue without the others, or go down. A node that is
// down stops its singletons and rejoins as a new incarnation; its actor system and its other actors
// continue. The same holds for a node that was paused and learns that it is down. Every two
// seconds, members contact some of the addresses where a member is missing, so a split of any
// length heals by itself.
//
// With the default settings on a local network, a killed node is unreachable after at most 0.86 s.
// A fenced singleton that ran on it starts elsewhere after about 4 s; an unfenced one starts 13 s
// later. A process that restarts at the same address within that time replaces the old one at once.
// A node logs the times that follow from its configuration when it starts.
//
// # Two clusters
//
// Two clusters of one name can arise if the first seed starts with itself as the only seed where it
// cannot reach the others, or if a node founds one by force. They can also arise if two nodes do
// not find each other and MinSeeds allows each to found a cluster. When a member of one hears of
// the other, the cluster with fewer members that are up dissolves: its nodes go down and join the
// other one.
//
// # Clients
//
// [Dial] connects a program that is not a member. A [Client] has actors of its own. It sends
// messages to the actors of the cluster and asks them, finds services by [Lookup] and singletons by
// singleton.Ref, and follows the members. It needs no port of its own. See docs/client.md.
//
// # Security
//
// With [Config.TLS] or [Config.Secret], all traffic between nodes is encrypted, and only nodes that
// have authenticated are heard. Without either, anyone who reaches the port of a node can do what a
// node can. Nodes of another cluster name or protocol version are always refused. A node that a
// seed does not trust fails to start; one that was a member keeps asking. File docs/security.md
// says how to make certificates and secrets, how to change them while the cluster runs, and what
// each protects against.
//
// Members are trusted. Only members can change the membership: the opinion of memberlist is a hint,
// and a table counts only if it comes from a member that is not down.
//
// # Testing
//
// Package testkit/clustertest runs whole clusters in one process and in virtual time. If your tests
// look for leaked goroutines, note that those of memberlist end up to about twelve seconds after
// the node.
package cluster
