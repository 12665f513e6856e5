package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/stderrlog"
)

// Config configures an endpoint. The zero value listens at a free port of the loopback interface.
// In every limit and duration, zero means the default and a negative value is an error.
type Config struct {
	// Cluster is the name of the cluster. Endpoints of different clusters refuse each other. The
	// default is "".
	Cluster string
	// Protocol is what the user of the endpoint speaks with the users of other endpoints, in
	// control frames and in messages of its own. Endpoints whose users have no version in common
	// refuse each other. The default is no protocol, which goes with any. Package cluster sets
	// it.
	Protocol Protocol
	// Incarnation tells this process from earlier ones at its address. The upper 32 bits identify
	// the process and stay when it is renamed, see [Endpoint.Rename]; if they are 0, the process
	// cannot be identified. The default is a random number.
	Incarnation uint64
	// Bind is the host:port to listen at, by TCP and UDP. Port 0 picks one that is free for both.
	// The default is 127.0.0.1:0.
	Bind string
	// Advertise is the host:port at which others reach this node, at most 255 bytes. Port 0 stands
	// for the port that was bound. The host must not be empty or stand for all interfaces, as
	// 0.0.0.0 does. Advertise is required if Bind names no single interface. The default is the
	// bound address.
	Advertise string
	// Outbound makes an endpoint that does not listen, for a client behind a NAT that is no
	// member of the cluster. Its address is made up; Bind is ignored, and Advertise must be
	// empty. Peers send to it over connections that it opened, see [Endpoint.Reach]. It has no
	// datagrams and no control channel, and cannot talk to other outbound endpoints.
	Outbound bool
	// Network opens listeners and connections. The default, nil, is the TCP and UDP of the
	// operating system.
	Network remote.Network

	// TLS authenticates nodes by certificates. Connections use TLS 1.3 with certificates on both
	// sides, and datagrams are encrypted with keys that are exchanged over them. TLS needs a
	// certificate, RootCAs and ClientCAs. The certificate of a node must be valid for servers and
	// clients, and for the host of the address that the node advertises. GetCertificate,
	// GetClientCertificate and GetConfigForClient are called for each connection, so certificates
	// can change. The endpoint itself sets the versions, ClientAuth, ServerName, NextProtos and
	// session settings. The default, nil, is no TLS.
	TLS *tls.Config
	// Keyring authenticates nodes by a shared secret, over the same TLS. A process that has the
	// secret can pass for any node. The default, nil, authenticates by no secret. At most one of
	// Keyring and TLS may be set.
	Keyring *remote.Keyring
	// MaxUnauthenticated is how many connections may be open that have not been authenticated, by
	// TLS or, without TLS, by their hello. Beyond that, the oldest of them is closed. The default
	// is 128.
	MaxUnauthenticated int
	// MaxUnauthenticatedPerHost is how many of them one IP address, or IPv6 /64 network, may
	// have. Beyond that, a new one is closed at once if the oldest is younger than 250 ms;
	// otherwise the oldest is closed. The default is 16.
	MaxUnauthenticatedPerHost int

	// OutboxSize is how many messages may wait to be sent to one peer. The sender of a further
	// message waits for room, actor or not, as long as the peer acknowledges something within
	// each second, and for at most UnreachableAfter. Otherwise the message becomes a dead letter
	// with [remote.ErrOutboxFull]. [actor.ActorRef.TellNoWait], [actor.AskToSelf], actors of the
	// framework and replies do not wait. The default is 100,000.
	OutboxSize int
	// OutboxBytes is how many bytes of messages may wait for one peer, or be in flight to it
	// without an acknowledgement. A single message always fits. Senders of further messages wait,
	// see OutboxSize. The default is 64 MiB.
	OutboxBytes int
	// ControlSize is how many control frames may wait for one peer. Beyond that, the oldest are
	// dropped. The default is 1,024.
	ControlSize int
	// MaxMessage is the largest size of one encoded message in bytes, also after decompression. A
	// larger message becomes a dead letter with [remote.ErrTooLarge], at the sender or at a
	// receiver with a lower limit, so set it to the same on all nodes. The default is 4 MiB.
	MaxMessage int

	// CompressFrom is the size in bytes from which on messages are compressed, if that makes them
	// smaller. 0 is never. Nodes with different settings understand each other.
	CompressFrom int

	// DialTimeout is the limit of one attempt to connect, including the handshake. The default is
	// 2 s.
	DialTimeout time.Duration
	// HandshakeTimeout is the limit of the handshake on a connection that a peer opens, including
	// TLS. The default is 2 s.
	HandshakeTimeout time.Duration
	// MinBackoff and MaxBackoff are the first and the longest pause between attempts to connect.
	// The pause doubles with each failure, ± 20 %. The defaults are 20 ms and 1 s.
	MinBackoff, MaxBackoff time.Duration
	// UnreachableAfter is how long messages wait for a peer that acknowledges nothing. Then
	// everything that waits for it becomes dead letters. After half of it, another connection is
	// tried. The default is 5 s.
	UnreachableAfter time.Duration
	// IdleAfter is how long an unused connection is kept. The receiving side keeps it for twice
	// as long. The default is one minute.
	IdleAfter time.Duration
	// Linger is how long [Endpoint.Close] waits for connected peers to acknowledge the messages
	// that were sent. The default is 1 s.
	Linger time.Duration

	// Logger receives the log. The default, nil, writes warnings and errors to standard error;
	// zap.NewNop() logs nothing.
	Logger *zap.Logger

	// The endpoint calls the functions below from its goroutines, possibly several at a time.
	// They must not block. Each may be nil. A panic refuses the peer, or is logged.

	// Control receives the control frames and packets that arrive. It may keep data. Nil ignores
	// them.
	Control func(from remote.NodeID, data []byte)
	// Admit decides in each handshake, on both sides, whether the peer may connect. Its error
	// refuses the connection and is sent to the peer as the reason. Nil admits every peer.
	Admit func(remote.NodeID) error
	// AdmitMessages decides like Admit, but only about connections that carry messages between
	// actors. Nil admits every peer.
	AdmitMessages func(remote.NodeID) error
	// ClientsReach reports whether messages of clients, see Outbound, may reach the actor at path,
	// such as "/user/orders/7". It is asked for paths below "/user/" only, for each message, and
	// must be fast. A message that it refuses, or for which it panics, becomes a dead letter here,
	// with [remote.ErrPrivate]. It does not limit which actors clients watch. Nil lets clients
	// reach every actor.
	ClientsReach func(path string) bool
	// DialFailed is called after each failed attempt to connect. err is a [*remote.RefusedError] if
	// an endpoint answered, [remote.ErrNotAuthenticated] if one side does not trust the other, and
	// [remote.ErrForeign] if something else listens there. Otherwise it is the error of
	// [remote.Network].Dial. [remote.RefusedIncarnation] proves that the incarnation that was
	// connected before is gone. Nil ignores failures.
	DialFailed func(addr string, err error)

	versions protocol.Range // of the protocol of this package, in tests
}

func (c Config) withDefaults() Config {
	setDefault(&c.Bind, "127.0.0.1:0")
	setDefault(&c.Incarnation, node.NewIncarnation())
	setDefault(&c.MaxUnauthenticated, 128)
	setDefault(&c.MaxUnauthenticatedPerHost, 16)
	setDefault(&c.OutboxSize, 100_000)
	setDefault(&c.OutboxBytes, 64<<20)
	setDefault(&c.ControlSize, 1024)
	setDefault(&c.MaxMessage, 4<<20)
	setDefault(&c.DialTimeout, 2*time.Second)
	setDefault(&c.HandshakeTimeout, 2*time.Second)
	setDefault(&c.MinBackoff, 20*time.Millisecond)
	setDefault(&c.MaxBackoff, time.Second)
	setDefault(&c.UnreachableAfter, 5*time.Second)
	setDefault(&c.IdleAfter, time.Minute)
	setDefault(&c.Linger, time.Second)
	setDefault(&c.versions, protocol.UpTo(Version))
	if c.Network == nil {
		c.Network = osNetwork{}
	} else {
		c.Network = guardedNetwork{c.Network}
	}
	if c.Logger == nil {
		c.Logger = stderrlog.New()
	}
	if c.Control == nil {
		c.Control = func(remote.NodeID, []byte) {}
	}
	if c.Admit == nil {
		c.Admit = func(remote.NodeID) error { return nil }
	}
	if c.AdmitMessages == nil {
		c.AdmitMessages = func(remote.NodeID) error { return nil }
	}
	if c.DialFailed == nil {
		c.DialFailed = func(string, error) {}
	}
	c.guardHooks()
	return c
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func (c Config) validate() error {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"MaxUnauthenticated", c.MaxUnauthenticated},
		{"MaxUnauthenticatedPerHost", c.MaxUnauthenticatedPerHost},
		{"OutboxSize", c.OutboxSize},
		{"OutboxBytes", c.OutboxBytes},
		{"ControlSize", c.ControlSize},
		{"MaxMessage", c.MaxMessage},
		{"CompressFrom", c.CompressFrom},
		{"DialTimeout", int(c.DialTimeout)},
		{"HandshakeTimeout", int(c.HandshakeTimeout)},
		{"MinBackoff", int(c.MinBackoff)},
		{"MaxBackoff", int(c.MaxBackoff)},
		{"UnreachableAfter", int(c.UnreachableAfter)},
		{"IdleAfter", int(c.IdleAfter)},
		{"Linger", int(c.Linger)},
	} {
		if limit.value < 0 {
			return fmt.Errorf("remote: Config.%s is negative", limit.name)
		}
	}
	if c.Protocol != (Protocol{}) && !c.Protocol.versions().IsValid() {
		return fmt.Errorf("remote: Config.Protocol has the versions %d to %d; number them from 1 on", c.Protocol.Min, c.Protocol.Max)
	}
	if len(c.Advertise) > maxAddr {
		return fmt.Errorf("remote: Config.Advertise is longer than %d bytes", maxAddr)
	}
	if err := naming.CheckHostPort(c.Bind); err != nil && !c.Outbound {
		return fmt.Errorf("remote: Config.Bind: %q is not a host:port to listen at: it %w", c.Bind, err)
	}
	if err := naming.CheckAdvertised(c.Advertise); err != nil && c.Advertise != "" {
		return fmt.Errorf("remote: Config.Advertise: %q is not an address at which others reach this endpoint: it %w", c.Advertise, err)
	}
	return nil
}

// In bytes: it must fit into a packet header.
const maxAddr = 255

func (c Config) advertised(bound net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(bound.String())
	if err != nil {
		return "", fmt.Errorf("remote: bound address: %w", err)
	}
	if c.Advertise == "" {
		if naming.CheckAdvertised(bound.String()) != nil {
			return "", errors.New("remote: Config.Advertise is required, as Config.Bind names no single interface")
		}
		return bound.String(), nil
	}
	host, given, err := net.SplitHostPort(c.Advertise)
	if err != nil {
		return "", fmt.Errorf("remote: Config.Advertise: %w", err)
	}
	if given != "0" {
		port = given
	}
	return net.JoinHostPort(host, port), nil
}
