package transport

import (
	"fmt"
	"io"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

// preface is what every connection begins with, before the byte of the channel. Servers of other
// protocols answer it at once, which identifies them. Its first five bytes are the head of a TLS
// record longer than any valid one, which a TLS server answers with an alert. Servers of line
// protocols, such as HTTP and Redis, answer at the end of the line.
const preface = tlsTooLong + "understudy\r\n\r\n"

// tlsTooLong is the head of a TLS record: a handshake, TLS 1.0, of 65,535 bytes. No TLS client
// begins like this.
const tlsTooLong = "\x16\x03\x01\xff\xff"

// The bytes are all of [tlsTooLong], or as much of the head of a TLS record, or one byte of
// anything else.
func readBegin(r io.Reader) ([]byte, error) {
	first, err := readByte(r)
	if err != nil {
		return nil, err
	}
	return readBeginAfter(r, first)
}

// The first byte has been read.
func readBeginAfter(r io.Reader, first byte) ([]byte, error) {
	begin := make([]byte, len(tlsTooLong))
	begin[0] = first
	if first != tlsTooLong[0] {
		return begin[:1], nil
	}
	_, err := io.ReadFull(r, begin[1:])
	return begin, wire.UnexpectedEOF(err)
}

func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

func isTLS(begin []byte) bool { return begin[0] == tlsTooLong[0] && string(begin) != tlsTooLong }

func readPreface(r io.Reader, begin []byte) (channel, error) {
	if string(begin) != tlsTooLong {
		return 0, fmt.Errorf("%w: a connection begins with %q, as none of a node does", remote.ErrFrame, begin)
	}
	var rest [len(preface) - len(tlsTooLong) + 1]byte
	if _, err := io.ReadFull(r, rest[:]); err != nil {
		return 0, wire.UnexpectedEOF(err)
	}
	last := len(rest) - 1
	if string(rest[:last]) != preface[len(tlsTooLong):] {
		return 0, fmt.Errorf("%w: a connection begins with %q, as none of a node does", remote.ErrFrame, rest[:last])
	}
	return channel(rest[last]), nil
}
