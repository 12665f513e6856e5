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

// Version is the version of the protocol. Peers of other versions are refused.
const Version = 1

// maxHandshake bounds the handshake, which is read from anybody.
const maxHandshake = 4 << 10

// A channel is what a connection is for, and its first byte after the preface.
type channel byte

const (
	channelControl channel = 'C'
	channelUser    channel = 'A'
	channelStream  channel = 'M' // no protocol of ours behind the hello
	channelReverse channel = 'R' // the listener is to dial on it
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

// A hello is what the dialer says first. Its version comes first in all versions of the
// protocol; fields that are unknown are ignored.
type hello struct {
	Version     uint64 `cbor:"1,keyasint"`
	Cluster     string `cbor:"2,keyasint"`
	Addr        string `cbor:"3,keyasint"` // where the dialer listens
	Incarnation uint64 `cbor:"4,keyasint"`
	Want        uint64 `cbor:"5,keyasint"` // the incarnation that knows the session, 0 for a new one
	Session     uint64 `cbor:"6,keyasint"` // a session outlives its connections
}

// An answer is what the listener says then.
type answer struct {
	Version     uint64  `cbor:"1,keyasint"`
	Incarnation uint64  `cbor:"2,keyasint"`
	Received    uint64  `cbor:"3,keyasint"` // how many frames of the session it has had
	Refusal     Refusal `cbor:"4,keyasint"` // 0: welcome
	Detail      string  `cbor:"5,keyasint"`
	Grant       []byte  `cbor:"6,keyasint,omitempty"` // to seal datagrams with, see grantSize
	Addr        string  `cbor:"7,keyasint,omitempty"` // where the listener advertises itself; "" is where it was dialed
}

func (h hello) peer() NodeID { return NodeID{Address: h.Addr, Incarnation: h.Incarnation} }

func (a answer) peer() NodeID { return NodeID{Address: a.Addr, Incarnation: a.Incarnation} }

// greet speaks for the dialer: it sends the channel and h, and returns the answer unless it is
// a refusal.
func greet(conn io.ReadWriter, l channel, h hello, addr string) (answer, error) {
	sent := sendHello(conn, l, h)
	first := &prefixRecorder{Reader: conn}
	body, err := wire.ReadFrame(first, maxHandshake) // who does not want our hello may have said why
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

// alert returns the peer's last word in err, if it is one of TLS, or else what there is
// without.
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

// parseHello returns what the dialer said. It fails with a [*refusal].
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

// A refusal is the listener's no.
type refusal struct {
	reason Refusal
	detail string
}

func refuse(reason Refusal, format string, args ...any) *refusal {
	return &refusal{reason, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return fmt.Sprintf("refused: %s: %s", r.reason, r.detail) }

// sendAnswer speaks for the listener.
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
