// Package remote carries messages between the actor systems of different processes over TCP. An
// [Endpoint] connects one process to the network: it is the [extension.Transport] of an actor
// system, and package cluster sends its own messages through it.
//
// This package is experimental: a minor release may change it.
//
//	e, err := remote.Listen(remote.Config{Cluster: "shop", Bind: ":7355", Advertise: "n1:7355"})
//	s := actor.NewSystem("shop", extension.WithTransport(e.Addr(), e))
//	e.Serve(s)
//
// A ref to an actor of another process then works like any other ref: you can tell and ask it,
// send it in messages, and resolve it from a path with [actor.Resolve].
//
// # Guarantees
//
//   - Sending never fails to the sender, whatever the peer does. It blocks only while more than
//     [Config.OutboxSize] messages wait for a peer that takes messages.
//   - A message is encoded when it is sent. The sender may change it afterwards.
//   - Messages from one actor to another arrive in order. No message arrives twice.
//   - A message arrives or becomes a dead letter with a reason, on the side that notices. While
//     two processes run and can reach each other within [Config.UnreachableAfter], every message
//     arrives, however often connections break: the receiver counts frames, the sender keeps
//     frames until they are acknowledged, and the next connection continues from there.
//   - A peer that is dead or slow, or sends invalid data, does not affect other peers. What waits
//     for one peer is bounded.
//   - A slow actor does not delay the other actors of its node. A message from a peer never blocks
//     on a mailbox: a blocking mailbox keeps it beyond its bound, see [actor.Mailbox.Block].
//
// # What is not guaranteed
//
//   - That a message is handled. The peer may die with the message, and an acknowledgement only
//     says that the message was delivered to a mailbox.
//   - That a dead letter did not arrive. If a peer dies or is given up, messages in flight may have
//     arrived. Their dead letters have [ErrInDoubt] in the reason.
//   - Order between different pairs of actors, or between control frames, packets and messages.
//   - Secrecy and authenticity without [Config.TLS] or [Config.Keyring]. With either, peers that
//     are not authenticated learn nothing and can send nothing. Without them, a peer can claim any
//     identity. The cost of unauthenticated connections is bounded in any case.
//
// # Where messages go
//
//	situation                                    becomes
//	type without a name                          dead letter of the sender, ErrNotSerializable; the log says how to register it
//	larger than MaxMessage                       dead letter of the sender, ErrTooLarge
//	OutboxSize messages wait already             the sender waits; without acknowledgements for 1 s, dead letter, ErrUnreachable and ErrOutboxFull
//	peer is starting, or its network is down     waits; sent within UnreachableAfter, or a dead letter, ErrUnreachable
//	peer refuses us (cluster name, version, …)   the same, with a *RefusedError
//	one side does not trust the other            the same, with ErrNotAuthenticated
//	peer restarts, message not yet sent          sent to the new process, where refs to actors of the old one are stale
//	peer restarts, message in flight             dead letter of the sender, ErrUnreachable and ErrInDoubt
//	Forget                                       dead letter of the sender, ErrUnreachable
//	Close                                        not acknowledged within Linger: dead letter, ErrClosed
//	name of the type unknown to the receiver     dead letter of the receiver, ErrNotDecodable; the log says how to register it
//	cannot be decoded, or is malformed           dead letter of the receiver, ErrNotDecodable; no other message is lost
//	larger than MaxMessage of the receiver       dead letter of the receiver, ErrNotDecodable and ErrTooLarge
//	no such actor, another one, another type     dead letter of the receiver, with the reasons of package actor
//	no room in a mailbox, or not in time         dead letter of the receiver, [actor.ErrMailboxFull]
//
// # Watching
//
// [actor.Context.Watch] works for actors of other nodes. The actors /system/watcher of the two
// nodes do it. The end of an actor is reported after everything the actor has sent to the watcher.
// Losses are repaired: the two sides compare what they know every five seconds, and every second
// until they agree. A watch ends
//
//	when the actor ends, or does not exist                   as soon as that is known
//	when another process answers at the address              within five seconds
//	when the node stops being a member                       at once: see [Endpoint.Members]
//	when the watch begins after that                         at once, if the ref has an actor number
//	when no member is at the address and nothing answers     after ten seconds, in a cluster
//
// The number in a ref shows which process the actor belongs to. A ref resolved from a path without
// a number means any actor at that path. Its watch also ends when the node is removed. If it
// begins after that, it has ten seconds, because the next process of the node may be starting.
// [actor.Ask] ends with the removal in the same way. The last 1,000 removed members are remembered
// while this node is a member.
//
// An unreachable member ends no watch. Without a cluster, silence never does: the watch of an
// actor whose process is gone for good lasts until another process answers at its address. When a
// watcher ends, restarts or unwatches, both sides forget its watches. A node that is silent for a
// minute is forgotten as well; its watches are restored when it is back.
//
// # Large messages
//
// A message larger than 24 KiB is sent in parts. Messages for other actors are sent between the
// parts and get half of the bandwidth. Messages for the same actor wait; here an adapter and the
// ref to the reply of an ask count as actors. Control frames have a connection of their own.
//
// Each part is acknowledged, so a message may take longer than UnreachableAfter, and continues on
// the next connection if one breaks. For messages beyond 4 MiB set MaxMessage on all nodes. A node
// allocates memory for four times as much as has arrived, up to what is announced, and at first up
// to 256 KiB. An incomplete message whose connection broke is kept for twice UnreachableAfter, up
// to 64 MiB in all, or one message. Beyond that its session ends, and the sender has dead letters
// with ErrInDoubt. A session also ends when the peer sends invalid frames. With CompressFrom, the
// sender's goroutine compresses messages of that size or more; MaxMessage bounds the size after
// decompression as well.
//
// # Speed
//
// If nothing was sent to a node for 20 µs, the sender writes the message itself, as far as the
// operating system takes it without blocking. Otherwise one goroutine per node writes everything
// that has gathered. What remains is the cost of encoding: give messages that are sent often a
// field _ struct{} with the tag cbor:",toarray", so that field names are not sent.
// docs/performance.md has figures.
//
// # Dead connections
//
// A network may lose a connection silently: a NAT may forget it, a machine may lose power. This
// package does not wait for the operating system to notice. A connection ends
//
//	when nothing that is in flight is acknowledged          after UnreachableAfter/2, and another is tried
//	when it accepts no writes                               the same
//	when nothing arrives on it                              after twice IdleAfter, at the receiver
//	when a client gets no pong on a waiting connection      3 s after the last sign of life, at the client
//	when no ping arrives on such a connection               after 10 s, at the other side
//	when its handshake is not over                          after DialTimeout or HandshakeTimeout
//
// No message is lost with the connection if the other process lives and a new connection reaches
// it within UnreachableAfter.
//
// # Settings
//
//	OutboxSize        100,000   messages that wait for a peer
//	OutboxBytes       64 MiB    bytes that wait or are in flight
//	ControlSize       1,024     control frames that wait for a peer; the oldest are dropped
//	MaxMessage        4 MiB     one message
//	CompressFrom      0         bytes from which on messages are compressed; 0 is never
//	DialTimeout       2 s       one attempt to connect, with its handshake
//	HandshakeTimeout  2 s       the handshake of a connection that a peer opens
//	MinBackoff        20 ms     pause after the first failed attempt, doubled each time, ± 20 %
//	MaxBackoff        1 s       the longest pause
//	UnreachableAfter  5 s       without an acknowledgement, until what waits becomes dead
//	                            letters; half of it for one connection
//	IdleAfter         1 min     until an unused connection is closed; twice that at the receiver
//	Linger            1 s       that Close waits for acknowledgements
//	MaxUnauthenticated 128      unauthenticated connections; beyond, the oldest is closed
//	MaxUnauthenticatedPerHost 16  those of one IP address; beyond, new ones are closed at once
//
// # Clients
//
// An endpoint with [Config.Outbound] does not listen: it is for programs outside the cluster,
// perhaps behind a NAT. It has a made-up address below client.invalid, which is part of the refs
// of its actors. It dials peers like any other endpoint, and keeps a connection open to each peer
// given to [Endpoint.Reach]. That peer sends over the connection, with the same guarantees. Both
// sides notice a dead connection (see above), and the client opens another. A node that was not
// given to Reach cannot send to the client: its messages become dead letters there, with
// [actor.ErrUnreachable]. The certificate of a client need not name a host. Nodes accept neither
// the control channel nor the stream channel from a client. That prevents mistakes, not attacks: a
// client can send anything to any actor, so you must trust it like a node.
//
// # Security
//
// With [Config.TLS] or [Config.Keyring], all channels run over TLS 1.3 with certificates on both
// sides. With TLS they are your certificates, which must name the host of the address that a node
// dials or advertises. With a keyring they are derived from a secret, and only the key counts. A
// listener with TLS refuses a dialer without TLS, and says why; so does a listener without TLS. At
// most 32 KiB are read from a peer that is not authenticated. docs/security.md explains how to make
// and change certificates and secrets, and what stays visible.
//
// # On the wire
//
// An endpoint has one port number, for TCP and UDP. Connections belong to channels: a channel is
// one purpose of the traffic from one node to another, with a connection of its own, so that
// control frames do not queue behind messages. Each side dials the connections that it sends on. A
// connection begins with a preface of 19 bytes, the same for all versions: 0x16 0x03 0x01 0xff
// 0xff, "understudy", CR LF CR LF. No TLS or HTTP client begins like this, and TLS and HTTP servers
// refuse it at once, which is how they are recognized ([ErrForeign]). With TLS, the preface comes
// inside TLS, whose handshake agrees on the protocol "understudy" (ALPN); a TLS server that does
// not offer it is no node. The byte after the preface is the channel:
//
//	C   control   frames are opaque, for package cluster; the oldest are dropped rather than kept
//	A   user      frames are envelopes: the CBOR array [path, uid, type name, metadata, message], or
//	              [path, uid, type name, metadata, message in DEFLATE, its size]; further elements
//	              are ignored. Metadata is a byte string of at most 1 KiB, empty or with a CBOR map
//	              that has integer keys. Or frames are parts of an envelope: the array
//	              [bytes behind this part, bytes]
//	M   stream    after a hello, which is not answered, memberlist's
//	R   reverse   after hello and answer it waits until the listener begins a user channel on it.
//	              Meanwhile the dialer sends a ping, the byte B, 2 s after the last sign of life,
//	              and the listener returns it
//
// The dialer then sends its hello. On C and A the listener sends its answer; after that only the
// dialer sends frames, and only the listener sends acknowledgements.
//
//	frame            length, 4 bytes, big-endian; as many bytes
//	hello            frame of a CBOR map: 1 lowest and 2 highest version, 3 features, 4 to 6 the same
//	                 of [Config.Protocol], 7 cluster, 8 address, 9 incarnation, 10 incarnation of
//	                 the listener to continue a session, else 0, 11 session
//	answer           frame of a CBOR map: 1 to 6 as in the hello, 7 and 8 the versions that are
//	                 spoken from now on, 9 incarnation, 10 refusal or 0, 11 its detail, 12 address if
//	                 it is not the dialed one, 13 frames of the session received, 14 with TLS, on C:
//	                 number of a key, 8 bytes, and the key, 32 bytes
//	acknowledgement  frames of the session received, 8 bytes, big-endian; every 256 frames or 256 KiB, or after 10 ms
//
// A session belongs to one incarnation on each side and outlives connections. A process that
// restarts at an address is another incarnation: its handshake closes all connections with the
// incarnation before.
//
// The first byte of a datagram is U for ours and M for memberlist's. After U: version, 1 byte;
// FNV-1a hash of the cluster name, 8 bytes; incarnation, 8 bytes; address with its length, 1 byte;
// data. Numbers are big-endian. With TLS, U or M is followed by: version with the upper bit set, 1
// byte; number of the key that the receiver has granted to the sender, 8 bytes; count of datagrams
// sealed with it, 8 bytes; data. The count is the nonce. The data is sealed by AES-256-GCM, which
// also authenticates everything before it.
//
// # Testing
//
// Set [Config.Network] to a host of an in-memory network, as our own tests do, and everything runs
// in a testing/synctest bubble: endpoints block only on channels, timers and the network, and no
// goroutine is left after [Endpoint.Close].
package remote
