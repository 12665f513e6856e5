package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/transport/wire"
	"github.com/understudy-go/understudy/remote"
)

// In bytes, from unauthenticated peers.
const maxHandshake = 4 << 10

// Its value is the first byte after the preface of a connection.
type channel byte

const (
	channelControl channel = 'C'
	channelUser    channel = 'A'
	channelStream  channel = 'M' // memberlist's protocol follows the hello
	channelReverse channel = 'R' // the listener begins a user channel on it
)

func (l channel) String() string {
	switch l {
	case channelControl:
		return "control"
	case channelUser:
		return "user"
	case channelStream:
		return "stream"
	case channelReverse:
		return "reverse"
	}
	return fmt.Sprintf("channel 0x%02x", byte(l))
}

type linkKey struct {
	addr    string
	channel channel
}

// A hello is the first frame of the dialer. Every release can read the hello of every other one: a
// field keeps its number, its type and its meaning, and unknown fields are ignored.
type hello struct {
	Min          uint64            `cbor:"1,keyasint"` // versions of this protocol that the dialer speaks
	Max          uint64            `cbor:"2,keyasint"`
	Features     protocol.Features `cbor:"3,keyasint"` // of this protocol
	UserMin      uint64            `cbor:"4,keyasint"` // Config.Protocol of the dialer
	UserMax      uint64            `cbor:"5,keyasint"`
	UserFeatures protocol.Features `cbor:"6,keyasint"`
	Cluster      string            `cbor:"7,keyasint"`
	Addr         string            `cbor:"8,keyasint"` // the advertised address of the dialer
	Incarnation  uint64            `cbor:"9,keyasint"`
	Want         uint64            `cbor:"10,keyasint"` // the listener's incarnation to continue a session, 0 for a new session
	Session      uint64            `cbor:"11,keyasint"` // it outlives its connections
}

// The same holds for its fields, up to 12, as for those of a hello.
type answer struct {
	Min          uint64            `cbor:"1,keyasint"` // as in the hello, of the listener
	Max          uint64            `cbor:"2,keyasint"`
	Features     protocol.Features `cbor:"3,keyasint"`
	UserMin      uint64            `cbor:"4,keyasint"`
	UserMax      uint64            `cbor:"5,keyasint"`
	UserFeatures protocol.Features `cbor:"6,keyasint"`
	Version      uint64            `cbor:"7,keyasint"` // that the two speak from now on; 0 in a refusal
	UserVersion  uint64            `cbor:"8,keyasint"` // of Config.Protocol; 0 if one side has none
	Incarnation  uint64            `cbor:"9,keyasint"`
	Refusal      remote.Refusal    `cbor:"10,keyasint"` // 0 accepts the connection
	Detail       string            `cbor:"11,keyasint"`
	Addr         string            `cbor:"12,keyasint,omitempty"` // advertised address of the listener; "" for the dialed one
	Received     uint64            `cbor:"13,keyasint"`           // received frames of the session
	Grant        []byte            `cbor:"14,keyasint,omitempty"` // to seal datagrams with, see grantSize
}

func (h hello) peer() remote.NodeID {
	return remote.NodeID{Address: h.Addr, Incarnation: h.Incarnation}
}

func (a answer) peer() remote.NodeID {
	return remote.NodeID{Address: a.Addr, Incarnation: a.Incarnation}
}

// greet fails with a [*remote.RefusedError] if the answer is a refusal.
func greet(conn io.ReadWriter, l channel, h hello, addr string) (answer, error) {
	sent := sendHello(conn, l, h)
	first := &prefixRecorder{Reader: conn}
	body, err := wire.ReadFrame(first, maxHandshake) // a peer that refuses our hello may have said why
	if err != nil {
		err = first.explain(err)
	}
	switch {
	case errors.Is(err, remote.ErrForeign):
		return answer{}, err
	case err != nil && sent != nil:
		return answer{}, alert(err, sent)
	case err != nil:
		return answer{}, fmt.Errorf("read answer: %w", alert(err, err))
	}
	a, err := parseAnswer(body)
	if err != nil {
		return answer{}, first.explain(err)
	}
	a.Addr = cmp.Or(a.Addr, addr)
	if a.Refusal != 0 {
		return a, &remote.RefusedError{Peer: a.peer(), Refusal: a.Refusal, Detail: a.Detail}
	}
	return a, nil
}

func sendHello(conn io.Writer, l channel, h hello) error {
	body, err := codec.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	if _, err := conn.Write(wire.AppendFrame(append([]byte(preface), byte(l)), body)); err != nil {
		return fmt.Errorf("send hello: %w", err)
	}
	return nil
}

func alert(err, without error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Op == opAlert {
		return authError(err)
	}
	return without
}

func parseAnswer(body []byte) (answer, error) {
	var a answer
	if err := codec.Unmarshal(body, &a); err != nil {
		return answer{}, fmt.Errorf("%w: answer: %w", remote.ErrFrame, err)
	}
	if a.Refusal == 0 && (a.Version == 0 || a.Incarnation == 0) {
		return answer{}, fmt.Errorf("%w: answer of version %d, incarnation %d", remote.ErrFrame, a.Version, a.Incarnation)
	}
	if len(a.Addr) > maxAddr {
		return answer{}, fmt.Errorf("%w: answer with an address of %d bytes", remote.ErrFrame, len(a.Addr))
	}
	return a, nil
}

// readHello fails with a [*refusal] if the hello is not valid.
func readHello(conn io.Reader) (hello, error) {
	body, err := wire.ReadFrame(conn, maxHandshake)
	if err != nil {
		return hello{}, err
	}
	return parseHello(body)
}

// parseHello fails with a [*refusal].
func parseHello(body []byte) (hello, error) {
	var h hello
	if err := codec.Unmarshal(body, &h); err != nil {
		return hello{}, refuse(remote.RefusedHello, "%v", err)
	}
	switch {
	case !h.versions().IsValid():
		return h, refuse(remote.RefusedHello, "it names no version of the protocol")
	case h.Addr == "" || h.Incarnation == 0:
		return h, refuse(remote.RefusedHello, "address and incarnation are required")
	case len(h.Addr) > maxAddr:
		return h, refuse(remote.RefusedHello, "address has %d bytes, the limit is %d", len(h.Addr), maxAddr)
	}
	return h, nil
}

type refusal struct {
	reason remote.Refusal
	detail string
}

func refuse(reason remote.Refusal, format string, args ...any) *refusal {
	return &refusal{reason, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return fmt.Sprintf("refused: %s: %s", r.reason, r.detail) }

func (n *localNode) sendAnswer(conn io.Writer, a answer) error {
	body, err := codec.Marshal(n.speaking(a))
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if _, err := conn.Write(wire.AppendFrame(nil, body)); err != nil {
		return fmt.Errorf("send answer: %w", err)
	}
	return nil
}

// StreamConns returns the connections that peers opened with DialStream. The receiver must close
// each one. A connection that is not received within [Config.HandshakeTimeout] is closed. The
// channel is never closed.
func (e *Endpoint) StreamConns() <-chan net.Conn { return e.acceptor.streams }

// DialStream opens a connection to the endpoint at addr, whose StreamConns returns the other end.
// It carries arbitrary bytes. The caller must close it. The peer closes it if it refuses it.
func (e *Endpoint) DialStream(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := e.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	// So little always fits into the buffer of a new connection: this does not block.
	if err := sendHello(conn, channelStream, e.hello()); err != nil {
		discard(conn)
		return nil, err
	}
	return withCloseNotify(conn), nil
}

// Its Close sends TLS's close_notify, as nothing else tells the peer that the stream is complete.
func withCloseNotify(conn net.Conn) net.Conn {
	if secure, ok := conn.(*secureConn); ok {
		return secure.Conn
	}
	return conn
}
