package transport_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

var largeSizes = []struct {
	name string
	size int
}{{"10kB", 10_000}, {"1MB", 1_000_000}, {"8MB", 8_000_000}}

// inFlight is how many bytes the benchmarks of large messages have on their way.
const inFlight = 32 << 20

// BenchmarkLarge sends large messages as fast as the other side receives. Its share of
// BenchmarkLargeBareTCP is what actors, acknowledgements and sessions leave of a connection.
func BenchmarkLarge(b *testing.B) {
	for _, s := range largeSizes {
		b.Run(s.name, func(b *testing.B) { benchmarkLarge(b, s.size) })
	}
}

func benchmarkLarge(b *testing.B, size int) {
	b.Helper()
	from, to := startTCP(b, large), startTCP(b, large)
	var received atomic.Int64
	progress := make(chan struct{}, 1)
	actor.Spawn(to.sys, receive(func([]byte) {
		received.Add(1)
		select {
		case progress <- struct{}{}:
		default:
		}
	}), "sink")
	sink := ref[[]byte](from, to, "/user/sink")
	payload := make([]byte, size)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		for (i-received.Load())*int64(size) >= inFlight {
			<-progress
		}
		sink.Tell(payload)
	}
	for received.Load() < int64(b.N) {
		<-progress
	}
	b.StopTimer()
	require.Empty(b, from.lost.got())
}

// BenchmarkLargeBareTCP encodes messages, sends them over a connection with their length before
// each, and decodes them.
func BenchmarkLargeBareTCP(b *testing.B) {
	for _, s := range largeSizes {
		b.Run(s.name, func(b *testing.B) { benchmarkBareTCP(b, s.size) })
	}
}

func benchmarkBareTCP(b *testing.B, size int) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Close()) }()
	out, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	defer func() { require.NoError(b, out.Close()) }()
	in, err := l.Accept()
	require.NoError(b, err)
	defer func() { require.NoError(b, in.Close()) }()

	payload := make([]byte, size)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	sent := make(chan error, 1)
	go func() { sent <- writeBare(out, payload, b.N) }()
	r := bufio.NewReaderSize(in, 64<<10)
	var header [4]byte
	var body []byte
	for range b.N {
		_, err := io.ReadFull(r, header[:])
		require.NoError(b, err)
		if n := int(binary.BigEndian.Uint32(header[:])); len(body) < n {
			body = make([]byte, n)
		}
		_, err = io.ReadFull(r, body)
		require.NoError(b, err)
		_, err = codec.Decode("bytes", body)
		require.NoError(b, err)
	}
	require.NoError(b, <-sent)
}

func writeBare(to io.Writer, payload []byte, times int) error {
	for range times {
		_, data, err := codec.Encode(payload)
		if err != nil {
			return err
		}
		if _, err := to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)))); err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return nil
}
