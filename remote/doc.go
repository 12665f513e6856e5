// Package remote carries messages between the actor systems of different processes, over
// TCP. An [Endpoint] is the place of one process on the network; it is the
// [actor.Transport] of a system, and the messenger of package cluster.
//
//	e, err := remote.Listen(remote.Config{Cluster: "shop", Bind: ":7355", Advertise: "n1:7355"})
//	s := actor.NewSystem("shop", actor.WithTransport(e.Addr(), e))
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
//
// # What is not guaranteed
//
//   - That a message that was sent is handled. The peer may die with it, and an
//     acknowledgement says that it has been delivered to a mailbox, not more.
//   - That a dead letter did not arrive. When a peer dies or is given up, nobody knows
//     about what was on the wire: such dead letters have [ErrInDoubt] as a reason.
//   - Order between actors of different pairs, or between control frames, packets and
//     messages.
//   - Secrecy and authenticity: so far the network has to be trusted. What
//     strangers can do is bounded, though: a handshake has 4 KiB and a deadline.
//
// # Where messages go
//
//	situation                                    becomes
//	type without a name                          dead letter of the sender, ErrNotSerializable, and how to register it in the log
//	larger than MaxFrame                         dead letter of the sender, ErrFrameTooLarge
//	OutboxSize messages wait already             dead letter of the sender, ErrUnreachable and ErrOutboxFull
//	peer is starting, or its network is down     waits; sent within UnreachableAfter, or a dead letter, ErrUnreachable
//	peer refuses us (cluster name, version, …)   the same, and a *RefusedError
//	peer restarts, message not yet sent          sent to the new process, where refs to actors of the old one are stale
//	peer restarts, message on the wire           dead letter of the sender, ErrUnreachable and ErrInDoubt
//	Forget                                       dead letter of the sender, ErrUnreachable
//	Close                                        what connected peers do not take within Linger: dead letter, ErrClosed
//	name of the type unknown to the receiver     dead letter of the receiver, ErrNotDecodable, and how to register it in the log
//	no such actor, another one, another type     dead letter of the receiver, with the reasons of package actor
//
// # Settings
//
//	OutboxSize        10,000    messages that wait for a peer
//	OutboxBytes       64 MiB    bytes that wait or are not acknowledged
//	ControlSize       1,024     control frames that wait for a peer; the oldest are dropped
//	MaxFrame          4 MiB     one message
//	DialTimeout       2 s       one attempt to connect, handshake included
//	HandshakeTimeout  2 s       for who connects to us
//	MinBackoff        20 ms     pause after the first failed attempt, doubled each time, ± 20 %
//	MaxBackoff        1 s       the longest pause
//	UnreachableAfter  5 s       without an acknowledgement, then what waits becomes dead letters
//	IdleAfter         1 min     then a connection is closed until it is needed
//	Linger            1 s       that Close waits for acknowledgements
//
// # On the wire
//
// An endpoint has one port number, for TCP and UDP. Each side dials the connections
// that it sends on, one per lane, so that control traffic does not queue behind
// messages. The first byte of a connection is its lane:
//
//	C   control   frames are opaque, for package cluster; the oldest are dropped rather than kept
//	A   user      frames are envelopes: the CBOR array [path, uid, type name, message]
//	M   stream    memberlist's, from here on
//
// On C and A the dialler goes on with its hello and the listener with its answer; then
// only the dialler sends frames, and only the listener sends acknowledgements.
//
//	frame            length, 4 bytes, big-endian; as many bytes
//	hello            frame of a CBOR map: 1 version, 2 cluster, 3 address, 4 incarnation,
//	                 5 incarnation of the listener if the session is to go on, else 0, 6 session
//	answer           frame of a CBOR map: 1 version, 2 incarnation, 3 frames of the session received,
//	                 4 refusal or 0, 5 its detail
//	acknowledgement  frames of the session received, 8 bytes, big-endian; every 256 frames or 256 KiB, or after 10 ms
//
// A session belongs to one incarnation on each side and outlives connections. A process
// that starts anew at an address is another incarnation: when it shakes hands, what is left
// of connections with the one before it is closed.
//
// The first byte of a datagram is U for ours and M for memberlist's. After U: version, 1 byte;
// FNV-1a hash of the cluster name, 8 bytes; incarnation, 8 bytes; address with its length,
// 1 byte; data. Numbers are big-endian.
//
// # Testing
//
// Give [Config.Network] a host of an in-memory network, as our own tests do, and
// everything runs in a testing/synctest bubble: endpoints wait on channels, timers and
// what the network gives them, and nothing is left running after [Endpoint.Close].
package remote
