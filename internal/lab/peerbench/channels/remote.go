package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

const wireBuffer = 64 << 10

// The first byte on a connection says what it is for.
const (
	forFrames = iota
	forNumbers
)

// Serve answers the numbers of one connection, and passes the frames of another to the only sink.
func (c contender) Serve(sinks []func(payload []byte)) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		for {
			conn, err := l.Accept()
			check(err)
			in := bufio.NewReaderSize(conn, wireBuffer)
			purpose, err := in.ReadByte()
			check(err)
			if purpose == forNumbers {
				go echo(in, conn)
			} else {
				go c.receive(in, sinks[0])
			}
		}
	}()
	return l.Addr().String()
}

// receive reads frames, each into the same memory, and passes on what they contain.
func (c contender) receive(in *bufio.Reader, got func(payload []byte)) {
	var header [4]byte
	var frame []byte
	for {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			return
		}
		size := int(binary.BigEndian.Uint32(header[:]))
		if size > cap(frame) {
			frame = make([]byte, size)
		}
		frame = frame[:size]
		_, err := io.ReadFull(in, frame)
		check(err)
		got(c.decode(frame))
	}
}

// Dial makes both connections.
func (c contender) Dial(address string) bench.Connection {
	out := bufio.NewWriterSize(dial(address, forFrames), wireBuffer)
	var header [4]byte
	return bench.Connection{
		Send: func(_ int, payload []byte) {
			frame := c.encode(payload)
			binary.BigEndian.PutUint32(header[:], uint32(len(frame)))
			_, err := out.Write(header[:])
			check(err)
			_, err = out.Write(frame)
			check(err)
		},
		Flush: func() { check(out.Flush()) },
		Enter: bench.Anywhere(asker(dial(address, forNumbers))),
	}
}

// DialAll implements [bench.Spreader].
func (contender) DialAll(addresses []string) (asks []func(n int) int) {
	for _, address := range addresses {
		asks = append(asks, asker(dial(address, forNumbers)))
	}
	return asks
}

func dial(address string, purpose byte) net.Conn {
	conn, err := net.Dial("tcp", address)
	check(err)
	_, err = conn.Write([]byte{purpose})
	check(err)
	return conn
}

// asker returns a function that asks for the number after n. Any goroutine may call it.
func asker(conn net.Conn) func(n int) int {
	const most = 1024 // askers
	var mu sync.Mutex // guards waiting, and keeps it in the order of the wire
	waiting := make(chan chan int, most)
	go func() {
		for {
			n, err := read(conn)
			if err != nil {
				return
			}
			(<-waiting) <- n
		}
	}()
	replies := sync.Pool{New: func() any { return make(chan int, 1) }}
	return func(n int) int {
		reply := replies.Get().(chan int)
		defer replies.Put(reply)
		mu.Lock()
		waiting <- reply
		write(conn, n)
		mu.Unlock()
		return <-reply
	}
}

// echo answers numbers.
func echo(in io.Reader, out io.Writer) {
	for {
		n, err := read(in)
		if err != nil {
			return
		}
		write(out, n+1)
	}
}

func write(w io.Writer, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	_, err := w.Write(b[:])
	check(err)
}

func read(r io.Reader) (int, error) {
	var b [8]byte
	_, err := io.ReadFull(r, b[:])
	return int(binary.BigEndian.Uint64(b[:])), err
}

// A parcel is what the codec encodes.
type parcel struct {
	_    struct{} `cbor:",toarray"`
	Data []byte
}

func bare(b []byte) []byte { return b }

func encode(payload []byte) []byte {
	b, err := cbor.Marshal(parcel{Data: payload})
	check(err)
	return b
}

func decode(b []byte) []byte {
	var p parcel
	check(cbor.Unmarshal(b, &p))
	return p.Data
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
