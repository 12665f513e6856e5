package transport

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

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
