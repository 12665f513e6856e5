package remote

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/stderrlog"
)

// A NodeID identifies one incarnation of a node: a process that restarts at the same address has
// another NodeID.
type NodeID = node.ID

// Config says what an endpoint is to be. The zero value is an endpoint on a free port of
// the loopback interface.
type Config struct {
	// Cluster is the name of the cluster. Endpoints of different names do not talk.
	Cluster string
	// Incarnation tells this process from the ones that had its address before. 0 draws
	// one at random. The upper 32 bits stand for the process, and stay when that is renamed, see
	// [Endpoint.Rename]; where they are 0, nothing can be told of the process.
	Incarnation uint64
	// Bind is the host:port to listen at, by TCP and UDP; port 0 picks one that is free
	// for both. The default is 127.0.0.1:0.
	Bind string
	// Advertise is the host:port under which the others reach this node, where that is not
	// the one that is bound. Port 0 stands for the port that was bound. It is required when
	// Bind names no single interface.
	Advertise string
	// Outbound makes an endpoint that listens nowhere, as for a client behind a NAT, which is
	// no member of a cluster. It has a made-up address of its own; Bind means nothing, and
	// Advertise must be empty. Others send to it over connections that it has opened, see
	// [Endpoint.Reach]. It has neither datagrams nor a control channel, and cannot talk to others
	// of its kind.
	Outbound bool
	// Network is the way to the others; nil means the TCP and UDP of the operating system.
	Network Network

	// TLS makes nodes prove to each other who they are, by certificates. Connections are of
	// TLS 1.3 with certificates on both sides, and datagrams are encrypted with keys that are
	// handed over on them. It needs a certificate, RootCAs and ClientCAs. The
	// certificate of a node must be good for servers and for clients, and for the host of
	// the address that it advertises. GetCertificate, GetClientCertificate and
	// GetConfigForClient are called for each connection, so what they return can change.
	// What concerns versions, ClientAuth, ServerName, NextProtos and sessions is set by the endpoint.
	// It is nil for none.
	TLS *tls.Config
	// Keyring makes nodes prove to each other that they have a secret, over the same TLS.
	// Who has it can pass for any node. It is nil for none; with TLS it has to be.
	Keyring *Keyring
	// MaxUnauthenticated bounds the connections that are not authenticated yet: in TLS, or where
	// there is none, by what they say first. When there are more, the oldest of them is
	// closed. The default is 128.
	MaxUnauthenticated int
	// MaxUnauthenticatedPerHost bounds those that come from one IP address. More are closed at
	// once. The default is 16.
	MaxUnauthenticatedPerHost int

	// OutboxSize bounds the messages that wait to be sent to one peer. The default is
	// 100,000. What comes beyond becomes dead letters.
	OutboxSize int
	// OutboxBytes bounds the bytes of those that wait and of those that the peer has not
	// acknowledged. The default is 64 MiB. A single message always fits.
	OutboxBytes int
	// ControlSize bounds the control frames that wait for one peer; the oldest are dropped.
	// The default is 1,024.
	ControlSize int
	// MaxMessage bounds one message in bytes, compressed or not. The default is 4 MiB. What is
	// larger becomes a dead letter. It should be the same on all nodes: what is larger than that
	// of the receiver becomes a dead letter there.
	MaxMessage int

	// CompressFrom is from how many bytes on a message is sent compressed, if that makes it
	// smaller. 0 is never. Nodes understand each other whatever they have here.
	CompressFrom int

	// DialTimeout bounds one attempt to connect, handshake included. The default is 2 s.
	DialTimeout time.Duration
	// HandshakeTimeout bounds the handshake with who connects to us, that of TLS included.
	// The default is 2 s.
	HandshakeTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause between attempts to connect, which
	// doubles each time. The defaults are 20 ms and 1 s.
	MinBackoff, MaxBackoff time.Duration
	// UnreachableAfter is how long something may wait for a peer that acknowledges
	// nothing. Then all that waits becomes dead letters. The default is 5 s. After half of that
	// another connection is tried.
	UnreachableAfter time.Duration
	// IdleAfter is how long a connection is kept that carries nothing. The default is
	// one minute. The receiving side keeps it for twice as long.
	IdleAfter time.Duration
	// Linger is how long Close waits for connected peers to acknowledge what has been
	// sent. The default is 1 s.
	Linger time.Duration

	// Logger is nil for one that writes warnings and errors to standard error; zap.NewNop()
	// logs nothing.
	Logger *zap.Logger

	// The functions below are called by goroutines of the endpoint, several at a time, and
	// must not block. Each may be nil.

	// Control gets the control frames and packets that arrive. The data is its to keep.
	Control func(from NodeID, data []byte)
	// Admit is asked about the peer in each handshake, on both sides. Its error refuses
	// the connection, and goes to the peer as the reason.
	Admit func(NodeID) error
	// AdmitMessages is asked like Admit, but only about connections that carry messages
	// between actors.
	AdmitMessages func(NodeID) error
	// DialFailed hears of each failed attempt to connect: a [*RefusedError] when an endpoint
	// answered, [ErrNotAuthenticated] when one side does not trust the other, what
	// [Network].Dial says otherwise. [RefusedIncarnation] proves that the incarnation that
	// was connected before is gone.
	DialFailed func(addr string, err error)
}

// withDefaults returns c with its zero values replaced.
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
	if c.Network == nil {
		c.Network = osNetwork{}
	}
	if c.Logger == nil {
		c.Logger = stderrlog.New()
	}
	if c.Control == nil {
		c.Control = func(NodeID, []byte) {}
	}
	if c.Admit == nil {
		c.Admit = func(NodeID) error { return nil }
	}
	if c.AdmitMessages == nil {
		c.AdmitMessages = func(NodeID) error { return nil }
	}
	if c.DialFailed == nil {
		c.DialFailed = func(string, error) {}
	}
	return c
}

// silence is how long nothing may come on a connection: the peer closes one that is idle before.
func (c Config) silence() time.Duration { return 2 * min(c.IdleAfter, math.MaxInt64/4) }

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
	if len(c.Advertise) > maxAddr {
		return fmt.Errorf("remote: Config.Advertise is longer than %d bytes", maxAddr)
	}
	if err := naming.CheckHostPort(c.Bind); err != nil && !c.Outbound {
		return fmt.Errorf("remote: Config.Bind: %q is not a host:port to listen at: it %w", c.Bind, err)
	}
	if err := naming.CheckHostPort(c.Advertise); err != nil && c.Advertise != "" {
		return fmt.Errorf("remote: Config.Advertise: %q is not the host:port of an endpoint: it %w", c.Advertise, err)
	}
	return nil
}

// maxAddr bounds an advertised address: it has to fit into a packet header.
const maxAddr = 255

// advertised returns the address that others are to use, of an endpoint bound to bound.
func (c Config) advertised(bound net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(bound.String())
	if err != nil {
		return "", fmt.Errorf("remote: bound address: %w", err)
	}
	if c.Advertise == "" {
		return usable(bound.String())
	}
	host, given, err := net.SplitHostPort(c.Advertise)
	if err != nil {
		return "", fmt.Errorf("remote: Config.Advertise: %w", err)
	}
	if given != "0" {
		port = given
	}
	return usable(net.JoinHostPort(host, port))
}

// usable returns addr, if others can dial it.
func usable(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("remote: advertised address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "", errors.New("remote: Config.Advertise is required, as Config.Bind names no single interface")
	}
	return addr, nil
}
