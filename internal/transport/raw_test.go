package transport_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/memnet"
)

// The protocol, spoken by hand.

// fields is a hello or an answer.
type fields map[int]any

// The numbers of the fields.
const (
	helloMin         = 1
	helloMax         = 2
	helloUserMin     = 4
	helloUserMax     = 5
	helloCluster     = 7
	helloAddr        = 8
	helloIncarnation = 9
	helloWant        = 10
	helloSession     = 11

	answerMin         = 1
	answerMax         = 2
	answerVersion     = 7
	answerIncarnation = 9
	answerRefusal     = 10
	answerDetail      = 11
	answerReceived    = 13
	answerGrant       = 14
)

// MarshalCBOR encodes each field as what it is.
func (f fields) MarshalCBOR() ([]byte, error) {
	items := map[int]item{}
	for n, v := range f {
		items[n] = item{v}
	}
	return codec.Marshal(items)
}

// UnmarshalCBOR decodes numbers as uint64.
func (f *fields) UnmarshalCBOR(data []byte) error {
	var items map[int]item
	if err := codec.Unmarshal(data, &items); err != nil {
		return err
	}
	*f = fields{}
	for n, i := range items {
		(*f)[n] = i.v
	}
	return nil
}

// item is a field: a number or a text.
type item struct{ v any }

func (i item) MarshalCBOR() ([]byte, error) { return codec.Marshal(i.v) }

func (i *item) UnmarshalCBOR(data []byte) error {
	var n uint64
	if codec.Unmarshal(data, &n) == nil {
		i.v = n
		return nil
	}
	return codec.Unmarshal(data, &i.v)
}

func goodHello() fields {
	return fields{
		helloMin: 1, helloMax: 1, helloCluster: "", helloAddr: "raw:7355", helloIncarnation: 77, helloWant: 0, helloSession: 1,
	}
}

// accepted is an answer that accepts the dialer.
func accepted(incarnation, received any) fields {
	return fields{answerMin: 1, answerMax: 1, answerVersion: 1, answerIncarnation: incarnation, answerReceived: received}
}

// preface is what each connection of a node begins with.
const preface = "\x16\x03\x01\xff\xffunderstudy\r\n\r\n"

// opened returns the first bytes of a channel, followed by said.
func opened(channel byte, said ...byte) []byte {
	return append(append([]byte(preface), channel), said...)
}

// raw is a connection without an endpoint.
type raw struct {
	net.Conn
	t testing.TB
}

// dialRaw connects host "raw" to an endpoint.
func dialRaw(t testing.TB, n *memnet.Network, to *testNode) *raw {
	t.Helper()
	conn, err := n.Host("raw").Dial(t.Context(), to.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{conn, t}
}

// dialUser opens a user channel.
func dialUser(t testing.TB, n *memnet.Network, to *testNode) *raw {
	t.Helper()
	r := dialRaw(t, n, to)
	answer := r.greet('A', goodHello())
	require.Zero(t, answer[answerRefusal], answer[answerDetail])
	return r
}

func (r *raw) write(b ...byte) {
	r.t.Helper()
	_, err := r.Write(b)
	require.NoError(r.t, err)
}

func (r *raw) frame(v any) {
	r.t.Helper()
	body, err := codec.Marshal(v)
	require.NoError(r.t, err)
	r.write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)...)
}

func (r *raw) greet(channel byte, hello fields) (answer fields) {
	r.t.Helper()
	r.write(opened(channel)...)
	r.frame(hello)
	return r.readFields()
}

// serveRaw serves the connections to raw:7355, one after the other, until end is called.
func serveRaw(t testing.TB, n *memnet.Network, serve func(r *raw)) (end func()) {
	t.Helper()
	l, err := n.Host("raw").Listen("raw:7355")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(&raw{conn, t})
			_ = conn.Close() // unless serve has
		}
	})
	return func() {
		require.NoError(t, l.Close())
		serving.Wait()
	}
}

// skip reads the preface and the byte that names a channel.
func (r *raw) skip() {
	r.t.Helper()
	begin := make([]byte, len(preface)+1)
	_, err := io.ReadFull(r, begin)
	require.NoError(r.t, err)
	require.Equal(r.t, preface, string(begin[:len(preface)]))
}

func (r *raw) readFields() (f fields) {
	r.t.Helper()
	header := make([]byte, 4)
	_, err := io.ReadFull(r, header)
	require.NoError(r.t, err)
	body := make([]byte, binary.BigEndian.Uint32(header))
	_, err = io.ReadFull(r, body)
	require.NoError(r.t, err)
	require.NoError(r.t, codec.Unmarshal(body, &f))
	return f
}

// tell sends an envelope for the actor "inbox".
func (r *raw) tell(typeName string, msg any) {
	r.t.Helper()
	r.tellAt("/user/inbox", typeName, msg)
}

// tellAt sends an envelope for the actor at a path.
func (r *raw) tellAt(path, typeName string, msg any) {
	r.t.Helper()
	data, err := codec.Marshal(msg)
	require.NoError(r.t, err)
	r.frame([]any{path, int64(0), typeName, []byte{}, data})
}

// acknowledged returns the last count that has come, and that the connection is open.
func (r *raw) acknowledged() (count uint64) {
	r.t.Helper()
	require.NoError(r.t, r.SetReadDeadline(time.Now().Add(time.Second)))
	for buf := make([]byte, 8); ; count = binary.BigEndian.Uint64(buf) {
		_, err := io.ReadFull(r, buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return count
		}
		require.NoError(r.t, err)
	}
}

// closed waits for the other side to close the connection, and tells how long that took.
func (r *raw) closed() time.Duration {
	r.t.Helper()
	begin := time.Now()
	_, err := io.Copy(io.Discard, r)
	if err != nil {
		require.NotErrorIs(r.t, err, os.ErrDeadlineExceeded)
	}
	return time.Since(begin)
}
