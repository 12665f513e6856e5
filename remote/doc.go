// Package remote has what programs see of the messages between nodes: their guarantees, the errors
// in dead letters, keys, and the network that a node may be given. Package cluster opens and closes
// the connections; its Config.Traffic has the limits.
//
// This package is experimental: a minor release may change it.
//
// A ref to an actor of another node works like any other ref: you can tell and ask it, send it in
// messages, and resolve it from a path with actor.Resolve.
//
// # Guarantees
//
//   - Sending never fails to the sender, whatever the peer does. It blocks only while more than
//     Traffic.OutboxSize messages wait for a peer that takes messages.
//   - A message is encoded when it is sent. The sender may change it afterwards.
//   - Messages from one actor to another arrive in order. No message arrives twice.
//   - A message arrives or becomes a dead letter with a reason, on the side that notices. While
//     two processes run and can reach each other within five seconds, every message
//     arrives, however often connections break: the receiver counts frames, the sender keeps
//     frames until they are acknowledged, and the next connection continues from there.
//   - A peer that is dead or slow, or sends invalid data, does not affect other peers. What waits
//     for one peer is bounded.
//   - A slow actor does not delay the other actors of its node. A message from a peer never blocks
//     on a mailbox: a blocking mailbox keeps it beyond its bound, see actor.Mailbox.Block.
//
// # What is not guaranteed
//
//   - That a message is handled. The peer may die with the message, and an acknowledgement only
//     says that the message was delivered to a mailbox.
//   - That a dead letter did not arrive. If a peer dies or is given up, messages in flight may have
//     arrived. Their dead letters have [ErrInDoubt] in the reason.
//   - Order between different pairs of actors, or between control frames, packets and messages.
//   - Secrecy and authenticity without TLS or Secret of cluster.Config. With either, peers that
//     are not authenticated learn nothing and can send nothing. Without them, a peer can claim any
//     identity. The cost of unauthenticated connections is bounded in any case.
//
// # Where messages go
//
//	situation                                    becomes
//	type without a name                          dead letter of the sender, ErrNotSerializable; the log says how to register it
//	larger than MaxMessage                       dead letter of the sender, ErrTooLarge
//	OutboxSize messages wait already             the sender waits; without acknowledgements for 1 s, dead letter, ErrUnreachable and ErrOutboxFull
//	peer is starting, or its network is down     waits; sent within 5 s, or a dead letter, ErrUnreachable
//	peer refuses us (cluster name, version, …)   the same, with a *RefusedError
//	one side does not trust the other            the same, with ErrNotAuthenticated
//	peer restarts, message not yet sent          sent to the new process, where refs to actors of the old one are stale
//	peer restarts, message in flight             dead letter of the sender, ErrUnreachable and ErrInDoubt
//	peer is removed from the cluster             dead letter of the sender, ErrUnreachable
//	the sender's node ends                       not acknowledged within a second: dead letter, ErrClosed
//	name of the type unknown to the receiver     dead letter of the receiver, ErrNotDecodable; the log says how to register it
//	cannot be decoded, or is malformed           dead letter of the receiver, ErrNotDecodable; no other message is lost
//	larger than MaxMessage of the receiver       dead letter of the receiver, ErrNotDecodable and ErrTooLarge
//	no such actor, another one, another type     dead letter of the receiver, with the reasons of package actor
//	no room in a mailbox, or not in time         dead letter of the receiver, actor.ErrMailboxFull
//
// # Watching
//
// actor.Context.Watch works for actors of other nodes. The actors /system/watcher of the two
// nodes do it. The end of an actor is reported after everything the actor has sent to the watcher.
// Losses are repaired: the two sides compare what they know every five seconds, and every second
// until they agree. A watch ends
//
//	when the actor ends, or does not exist                   as soon as that is known
//	when another process answers at the address              within five seconds
//	when the node stops being a member                       at once
//	when the watch begins after that                         at once, if the ref has an actor number
//	when no member is at the address and nothing answers     after ten seconds
//
// The number in a ref shows which process the actor belongs to. A ref resolved from a path without
// a number means any actor at that path. Its watch also ends when the node is removed. If it
// begins after that, it has ten seconds, because the next process of the node may be starting.
// actor.Ask ends with the removal in the same way. The last 1,000 removed members are remembered
// while this node is a member.
//
// An unreachable member ends no watch. When a
// watcher ends, restarts or unwatches, both sides forget its watches. A node that is silent for a
// minute is forgotten as well; its watches are restored when it is back.
//
// # Large messages
//
// A message larger than 24 KiB is sent in parts. Messages for other actors are sent between the
// parts and get half of the bandwidth. Messages for the same actor wait; here an adapter and the
// ref to the reply of an ask count as actors. Control frames have a connection of their own.
//
// Each part is acknowledged, so a message may take longer than five seconds, and continues on the
// next connection if one breaks. For messages beyond 4 MiB set Traffic.MaxMessage on all nodes. A
// node allocates memory for four times as much as has arrived, up to what is announced, and at
// first up to 256 KiB. An incomplete message whose connection broke is kept for ten seconds, up to
// 64 MiB in all, or one message. Beyond that its session ends, and the sender has dead letters with
// ErrInDoubt. A session also ends when the peer sends invalid frames. With Traffic.CompressFrom,
// the sender's goroutine compresses messages of that size or more; MaxMessage bounds the size after
// decompression as well.
//
// # Security
//
// With TLS or Secret of cluster.Config, all channels run over TLS 1.3 with certificates on both
// sides. With TLS they are your certificates, which must name the host of the address that a node
// dials or advertises. With a secret they are derived from a secret, and only the key counts. A
// listener with TLS refuses a dialer without TLS, and says why; so does a listener without TLS. At
// most 32 KiB are read from a peer that is not authenticated. docs/security.md explains how to make
// and change certificates and secrets, and what stays visible.
package remote
