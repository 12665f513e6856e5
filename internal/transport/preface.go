package transport

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/understudy-go/understudy/internal/transport/wire"
	"github.com/understudy-go/understudy/remote"
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

var protocols = []struct {
	begin *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`^HTTP`), "HTTP"},
	{regexp.MustCompile(`(?s)^\x00\x00.\x04`), "HTTP/2, as gRPC has it"},
	{regexp.MustCompile(`(?s)^[\x15\x16]\x03`), otherTLS},
	{regexp.MustCompile(`^SSH-`), "SSH"},
	{regexp.MustCompile(`^-[A-Z]|^\+OK`), "the protocol of Redis"},
	{regexp.MustCompile(`^INFO`), "the protocol of NATS"},
	{regexp.MustCompile(`^ERRO`), "the protocol of memcached"},
	{regexp.MustCompile(`^AMQP`), "AMQP"},
	{regexp.MustCompile(`^220[ -]`), "SMTP or FTP"},
	{regexp.MustCompile(`(?s)^E\x00\x00`), "the protocol of PostgreSQL"},
	{regexp.MustCompile(`(?s)^[^\x00]\x00\x00\x00`), "the protocol of MySQL"},
}

const otherTLS = "TLS, and is no node"

func protocolOf(begin []byte) string {
	for _, p := range protocols {
		if p.begin.Match(begin) {
			return p.name
		}
	}
	return ""
}

func foreign(name string) error {
	return fmt.Errorf("%w: it speaks %s; give the address of a node", remote.ErrForeign, name)
}

type prefixRecorder struct {
	io.Reader
	begin []byte
}

func (o *prefixRecorder) Read(b []byte) (int, error) {
	n, err := o.Reader.Read(b)
	o.begin = append(o.begin, b[:min(n, wire.HeaderSize-len(o.begin))]...)
	return n, err
}

func (o *prefixRecorder) explain(err error) error {
	malformed := errors.Is(err, remote.ErrFrame)
	switch name := protocolOf(o.begin); {
	case malformed && name != "":
		return foreign(name)
	case malformed:
		return fmt.Errorf("%w; it begins with %q, so it may be no node", err, o.begin)
	case len(o.begin) == 0 && errors.Is(err, io.EOF):
		return fmt.Errorf("the connection was closed without an answer, as what is no node does: %w", err)
	}
	return err
}
