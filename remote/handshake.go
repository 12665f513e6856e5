package remote

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// Version is the version of the protocol. Peers with other versions are refused.
const Version = 1

// maxHandshake bounds a hello or an answer, in bytes: it is read from unauthenticated peers.
const maxHandshake = 4 << 10

// A channel is one purpose of the traffic from one node to another. Its value is the first byte
// after the preface of a connection.
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

// A linkKey identifies one channel to or from a peer.
type linkKey struct {
	addr    string
	channel channel
}

// A hello is the first frame of the dialer. Its version comes first in all versions of the
// protocol. Unknown fields are ignored.
type hello struct {
	Version     uint64 `cbor:"1,keyasint"`
	Cluster     string `cbor:"2,keyasint"`
	Addr        string `cbor:"3,keyasint"` // the advertised address of the dialer
	Incarnation uint64 `cbor:"4,keyasint"`
	Want        uint64 `cbor:"5,keyasint"` // the listener's incarnation to continue a session, 0 for a new session
	Session     uint64 `cbor:"6,keyasint"` // it outlives its connections
}

// An answer is the first frame of the listener.
type answer struct {
	Version     uint64  `cbor:"1,keyasint"`
	Incarnation uint64  `cbor:"2,keyasint"`
	Received    uint64  `cbor:"3,keyasint"` // received frames of the session
	Refusal     Refusal `cbor:"4,keyasint"` // 0 accepts the connection
	Detail      string  `cbor:"5,keyasint"`
	Grant       []byte  `cbor:"6,keyasint,omitempty"` // to seal datagrams with, see grantSize
	Addr        string  `cbor:"7,keyasint,omitempty"` // advertised address of the listener; "" for the dialed one
}

func (h hello) peer() NodeID { return NodeID{Address: h.Addr, Incarnation: h.Incarnation} }

func (a answer) peer() NodeID { return NodeID{Address: a.Addr, Incarnation: a.Incarnation} }

// greet does the handshake of the dialer: it sends the channel and h, and returns the answer. It
// fails with a [*RefusedError] if the answer is a refusal.
func greet(conn io.ReadWriter, l channel, h hello, addr string) (answer, error) {
	sent := sendHello(conn, l, h)
	first := &prefixRecorder{Reader: conn}
	body, err := wire.ReadFrame(first, maxHandshake) // a peer that refuses our hello may have said why
	if err != nil {
		err = first.explain(err)
	}
	switch {
	case errors.Is(err, ErrForeign):
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
		return a, &RefusedError{Peer: a.peer(), Refusal: a.Refusal, Detail: a.Detail}
	}
	return a, nil
}

// sendHello begins a channel.
func sendHello(conn io.Writer, l channel, h hello) error {
	body, err := codec.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	if _, err := conn.Write(wire.AppendFrame(appendPreface(nil, l), body)); err != nil {
		return fmt.Errorf("send hello: %w", err)
	}
	return nil
}

// alert returns the TLS alert of the peer in err, or else without.
func alert(err, without error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Op == opAlert {
		return authError(err)
	}
	return without
}

func parseAnswer(body []byte) (answer, error) {
	var a answer
	if err := codec.Unmarshal(body, &a); err != nil {
		return answer{}, fmt.Errorf("%w: answer: %w", ErrFrame, err)
	}
	if a.Refusal == 0 && (a.Version != Version || a.Incarnation == 0) {
		return answer{}, fmt.Errorf("%w: answer of version %d, incarnation %d", ErrFrame, a.Version, a.Incarnation)
	}
	if len(a.Addr) > maxAddr {
		return answer{}, fmt.Errorf("%w: answer with an address of %d bytes", ErrFrame, len(a.Addr))
	}
	return a, nil
}

// readHello reads the hello of the dialer. It fails with a [*refusal] if the hello is not valid.
func readHello(conn io.Reader) (hello, error) {
	body, err := wire.ReadFrame(conn, maxHandshake)
	if err != nil {
		return hello{}, err
	}
	return parseHello(body)
}

// parseHello decodes a hello. It fails with a [*refusal].
func parseHello(body []byte) (hello, error) {
	var h hello
	if err := codec.Unmarshal(body, &h); err != nil {
		return hello{}, refuse(RefusedHello, "%v", err)
	}
	switch {
	case h.Version != Version:
		return h, refuse(RefusedVersion, "you speak %d, this speaks %d", h.Version, Version)
	case h.Addr == "" || h.Incarnation == 0:
		return h, refuse(RefusedHello, "address and incarnation are required")
	case len(h.Addr) > maxAddr:
		return h, refuse(RefusedHello, "address has %d bytes, the limit is %d", len(h.Addr), maxAddr)
	}
	return h, nil
}

// A refusal is the listener's reason to refuse a connection.
type refusal struct {
	reason Refusal
	detail string
}

func refuse(reason Refusal, format string, args ...any) *refusal {
	return &refusal{reason, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return fmt.Sprintf("refused: %s: %s", r.reason, r.detail) }

// sendAnswer sends the answer of the listener.
func sendAnswer(conn io.Writer, a answer) error {
	a.Version = Version
	body, err := codec.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if _, err := conn.Write(wire.AppendFrame(nil, body)); err != nil {
		return fmt.Errorf("send answer: %w", err)
	}
	return nil
}
