// Package remote carries messages between the actor systems of different processes, over
// TCP. An [Endpoint] is the place of one process on the network; it is the
// [extension.Transport] of a system, and the messenger of package cluster.
//
//	e, err := remote.Listen(remote.Config{Cluster: "shop", Bind: ":7355", Advertise: "n1:7355"})
//	s := actor.NewSystem("shop", extension.WithTransport(e.Addr(), e))
//	e.Serve(s)
//
// From then on a ref to an actor of another process is a ref like any other: it can be
// told, asked, sent along in messages, and made from a path with [actor.Resolve].
//
// # Guarantees
//
//   - Sending never blocks, whatever the peer does, and never fails to the sender.
//   - A message is encoded when it is sent. The sender may change it afterwards.
//   - What one actor tells another arrives in order, and no message arrives twice.
//   - A message arrives, or becomes a dead letter with its reason: on the side that
//     finds out. While two processes live and reach each other within
//     [Config.UnreachableAfter], every message arrives, however often
//     connections break: the receiver counts what it has, the sender keeps what is not
//     acknowledged, and the next connection goes on from there.
//   - A dead peer, a slow one, or one that sends garbage, costs the others nothing.
//     What waits for one peer is bounded.
//   - A slow actor costs the other actors of its node nothing. Nothing that comes from a peer
//     waits in a mailbox: one that blocks keeps it beyond its bound, see [actor.Mailbox.Block].
//
// # What is not guaranteed
//
//   - That a message that was sent is handled. The peer may die with it, and an
//     acknowledgement says that it has been delivered to a mailbox, not more.
//   - That a dead letter did not arrive. When a peer dies or is given up, nobody knows
//     about what was on the wire: such dead letters have [ErrInDoubt] as a reason.
//   - Order between actors of different pairs, or between control frames, packets and
//     messages.
//   - Secrecy and authenticity, unless [Config.TLS] or [Config.Keyring] is set. With either,
//     strangers learn nothing, and can send nothing. Without, who reaches the port is
//     taken at its word. What strangers cost is bounded in any case.
//
// # Where messages go
//
//	situation                                    becomes
//	type without a name                          dead letter of the sender, ErrNotSerializable, and how to register it in the log
//	larger than MaxMessage                       dead letter of the sender, ErrTooLarge
//	OutboxSize messages wait already             dead letter of the sender, ErrUnreachable and ErrOutboxFull
//	peer is starting, or its network is down     waits; sent within UnreachableAfter, or a dead letter, ErrUnreachable
//	peer refuses us (cluster name, version, …)   the same, and a *RefusedError
//	one side does not trust the other            the same, and ErrNotAuthenticated
//	peer restarts, message not yet sent          sent to the new process, where refs to actors of the old one are stale
//	peer restarts, message on the wire           dead letter of the sender, ErrUnreachable and ErrInDoubt
//	Forget                                       dead letter of the sender, ErrUnreachable
//	Close                                        what connected peers do not take within Linger: dead letter, ErrClosed
//	name of the type unknown to the receiver     dead letter of the receiver, ErrNotDecodable, and how to register it in the log
//	cannot be decoded, or is malformed           dead letter of the receiver, ErrNotDecodable; nothing else is lost
//	larger than MaxMessage of the receiver       dead letter of the receiver, ErrNotDecodable and ErrTooLarge
//	no such actor, another one, another type     dead letter of the receiver, with the reasons of package actor
//	no room in a mailbox, or not in time         dead letter of the receiver, [actor.ErrMailboxFull]
//
// # Watching
//
// [actor.Context.Watch] works for actors of other nodes, by an actor /system/watcher in each
// system that is served. The end of an actor is told after all that it has told the watcher.
// What is lost on the way is repaired: the watchers compare what they know every five
// seconds, and every second until they agree. A watch ends
//
//	when the actor ends, or does not live                    as soon as that is known
//	when another process answers at the address              within five seconds
//	when the node was a member, and is none any more         at once: see [Endpoint.Members]
//	when it begins after that                                at once, if the ref says which actor is meant
//	when no member lives there, and nobody has answered      after ten seconds, in a cluster
//
// The number in a ref says of which process the actor is. A ref that was resolved from a path
// without a number means any actor that lives there. Its watch ends with the removal of the node as well;
// begun after that, it has ten seconds, as the next process of the node may be about to start.
// [actor.Ask] ends with the removal, and at once after it, in the same way. The last 1,000 members
// that were removed are remembered, as long as this node is a member itself.
//
// That a member does not answer ends nothing. Without a cluster, silence never does: a watch
// of an actor whose process is gone for good lasts until another one is at its address.
// Who ends, restarts or unwatches, is forgotten on both sides; a node that is silent for a
// minute is, too, and its watches are there again when it is back.
//
// # Large messages
//
// A message larger than 24 KiB is sent in parts. Messages for other actors go between them
// and have half of the bandwidth, those for the same actor wait, and control frames have a
// connection of their own. Each part is acknowledged, so a message may take longer than
// UnreachableAfter, and a connection that breaks goes on where it was. For messages beyond 4 MiB
// set MaxMessage on all nodes; a node reserves memory for what has come, not for what is
// announced. What has come of a message whose connection broke is kept for twice UnreachableAfter,
// and 64 MiB of that in all, or one message: beyond, its session ends, and the sender has dead
// letters with ErrInDoubt. So it is with a node that sends what cannot be read. What comes over
// a connection that lives is bounded by MaxMessage, for each. With CompressFrom, messages of some size are compressed, by the
// goroutine of the sender; what is decompressed is bounded by MaxMessage, too.
//
// # Speed
//
// Who sends to a node to which nothing has been sent for 20 µs writes the message itself, if the
// operating system takes it without waiting; otherwise one goroutine for each node writes
// what has gathered. What remains is the codec: give messages that are sent often a field
// _ struct{} with the tag cbor:",toarray", so that the names of fields do not travel.
// docs/benchmarks.md has figures.
//
// # Dead connections
//
// A network may lose a connection without a word, as a NAT does that has forgotten it, and a
// machine may lose its power. Nothing here waits for the operating system to notice that. A
// connection ends
//
//	when nothing of what waits for an acknowledgement gets one    after UnreachableAfter/2, and another is tried
//	when it takes nothing of what is written                      the same
//	when nothing comes on it                                      after twice IdleAfter, at the receiver
//	when a client's, that waits, does not return a beat           3 s after the last sign of life, at the client
//	when there is no beat on such a one                           after 10 s, at the other side
//	when its handshake is not over                                after DialTimeout or HandshakeTimeout
//
// No message is lost with it where the other process lives and can be reached by a new connection
// within UnreachableAfter.
//
// # Settings
//
//	OutboxSize        100,000   messages that wait for a peer
//	OutboxBytes       64 MiB    bytes that wait or are not acknowledged
//	ControlSize       1,024     control frames that wait for a peer; the oldest are dropped
//	MaxMessage        4 MiB     one message
//	CompressFrom      0         bytes from which on messages are compressed; 0 is never
//	DialTimeout       2 s       one attempt to connect, handshake included
//	HandshakeTimeout  2 s       for who connects to us
//	MinBackoff        20 ms     pause after the first failed attempt, doubled each time, ± 20 %
//	MaxBackoff        1 s       the longest pause
//	UnreachableAfter  5 s       without an acknowledgement, then what waits becomes dead
//	                            letters; half of it for one connection
//	IdleAfter         1 min     then a connection is closed until it is needed; twice that at the receiver
//	Linger            1 s       that Close waits for acknowledgements
//	MaxUnauthenticated      128       connections that are not authenticated yet; then the oldest is closed
//	MaxUnauthenticatedPerHost 16      those of one IP address; more are closed at once
//
// # Clients
//
// An endpoint with [Config.Outbound] listens nowhere: it is for programs outside the
// cluster, perhaps behind a NAT. It has a made-up address below client.invalid, which is
// part of the refs of its actors. It dials whom it talks to, like any other; and it keeps
// a connection open to each peer given to [Endpoint.Reach], by which that one can send to
// it, with the same guarantees. Both sides find out when such a connection is dead, see below, and
// the client opens another; at once, when it meets another incarnation of the peer. A node that is
// not given cannot send to it: messages become dead letters there, with [actor.ErrUnreachable]. The certificate of a client need not be for
// any host; a client is not listened to on the control channel and the stream channel. That keeps out
// mistakes, not malice: a client can tell any actor anything, so it has to be trusted as
// nodes are.
//
// # Security
//
// With [Config.TLS] or [Config.Keyring] all channels run over TLS 1.3, in which both sides show
// certificates: those of the user, which have to be for the host of the address that a node
// dials or advertises; or one that is derived from a secret, of which only the key counts. A
// listener that hears the beginning of the protocol without TLS answers with a refusal that
// says so, and no more; so does one without TLS that hears that of TLS. Before a peer is
// authenticated, 32 KiB are read of it at most. File docs/security.md has the rest: how
// to make certificates and secrets, how to change them, what stays visible.
//
// # On the wire
//
// An endpoint has one port number, for TCP and UDP. Each side dials the connections
// that it sends on, one per channel, so that control traffic does not queue behind
// messages. A connection begins with a preface of 19 bytes, the same for all versions:
// 0x16 0x03 0x01 0xff 0xff, "understudy", CR LF CR LF. No client of TLS and none of HTTP begins
// so, and servers of both refuse it at once, by which they are named ([ErrForeign]). With TLS the
// preface is within TLS, in whose handshake both sides agree on the protocol "understudy" (ALPN);
// a TLS server that does not is no node. The byte behind the preface is the channel:
//
//	C   control   frames are opaque, for package cluster; the oldest are dropped rather than kept
//	A   user      frames are envelopes: the CBOR array [path, uid, type name, message], or
//	              [path, uid, type name, message in DEFLATE, its size]; or parts of one: the array
//	              [bytes behind this part, bytes]
//	M   stream    after a hello, which is not answered, memberlist's
//	R   reverse   after hello and answer it waits until the listener begins a user channel on it. Meanwhile
//	              the dialer sends a beat, the byte B, 2 s after the last sign of life, and the
//	              listener returns it
//
// The dialer goes on with its hello, and on C and A the listener with its answer; then
// only the dialer sends frames, and only the listener sends acknowledgements.
//
//	frame            length, 4 bytes, big-endian; as many bytes
//	hello            frame of a CBOR map: 1 version, 2 cluster, 3 address, 4 incarnation,
//	                 5 incarnation of the listener if the session is to go on, else 0, 6 session
//	answer           frame of a CBOR map: 1 version, 2 incarnation, 3 frames of the session received,
//	                 4 refusal or 0, 5 its detail, 6 with TLS, on C: number of a key, 8 bytes, and the key, 32 bytes
//	acknowledgement  frames of the session received, 8 bytes, big-endian; every 256 frames or 256 KiB, or after 10 ms
//
// A session belongs to one incarnation on each side and outlives connections. A process
// that starts anew at an address is another incarnation: when it shakes hands, what is left
// of connections with the one before it is closed.
//
// The first byte of a datagram is U for ours and M for memberlist's. After U: version, 1 byte;
// FNV-1a hash of the cluster name, 8 bytes; incarnation, 8 bytes; address with its length,
// 1 byte; data. Numbers are big-endian. With TLS, after U or M: version with the upper bit
// set, 1 byte; number of the key that the receiver has granted to the sender, 8 bytes; count of
// datagrams sealed with it, 8 bytes, which is the nonce; data, sealed by AES-256-GCM, with
// all that stands before it authenticated.
//
// # Testing
//
// Give [Config.Network] a host of an in-memory network, as our own tests do, and
// everything runs in a testing/synctest bubble: endpoints wait on channels, timers and
// what the network gives them, and nothing is left running after [Endpoint.Close].
package remote
