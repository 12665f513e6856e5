// Package transport carries messages between the actor systems of different processes over TCP. An
// [Endpoint] connects one process to the network: it is the [extension.Transport] of an actor
// system, and package cluster sends its own messages through it. Package remote has what programs
// see of it: guarantees, errors, keys.
//
//	e, err := transport.Listen(transport.Config{Cluster: "shop", Bind: ":7355", Advertise: "n1:7355"})
//	s := actor.NewSystem("shop", extension.WithTransport(e.Addr(), e))
//	e.Serve(s)
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
// # On the wire
//
// An endpoint has one port number, for TCP and UDP. Connections belong to channels: a channel is
// one purpose of the traffic from one node to another, with a connection of its own, so that
// control frames do not queue behind messages. Each side dials the connections that it sends on. A
// connection begins with a preface of 19 bytes, the same for all versions: 0x16 0x03 0x01 0xff
// 0xff, "understudy", CR LF CR LF. No TLS or HTTP client begins like this, and TLS and HTTP servers
// refuse it at once, which is how they are recognized ([remote.ErrForeign]). With TLS, the preface
// comes inside TLS, whose handshake agrees on the protocol "understudy" (ALPN); a TLS server that
// does not offer it is no node. The byte after the preface is the channel:
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
// byte; number of the key, 8 bytes; count of datagrams sealed with it, 8 bytes; random nonce, 12
// bytes; data; tag, 16 bytes. The receiver has granted the key to the sender. AES-256-GCM seals the
// data, and authenticates what is before the nonce. A key seals at most 2³¹ datagrams; then a
// new connection of the control channel brings another.
//
// # Testing
//
// Set [Config.Network] to a host of an in-memory network, as our own tests do, and everything runs
// in a testing/synctest bubble: endpoints block only on channels, timers and the network, and no
// goroutine is left after [Endpoint.Close].
package transport
