//go:build unix

package transport

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// A socket is a TCP connection that writes without blocking, and whose short system calls cost
// little, see readNow.
type socket struct {
	*net.TCPConn
	raw      syscall.RawConn
	incoming attempt
	outgoing attempt
	read     func(fd uintptr) (done bool) // made once, as write: a call allocates nothing
	write    func(fd uintptr)
}

// An attempt is the argument and the results of read or write. There is at most one of each.
type attempt struct {
	b   []byte
	n   int
	err error
}

// asSocket returns conn itself if it is not a TCP connection of the operating system.
func asSocket(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil { // it is closed
		return conn
	}
	s := &socket{TCPConn: tcp, raw: raw}
	s.read = func(fd uintptr) bool {
		a := &s.incoming
		a.n, a.err = readNow(fd, a.b)
		return !errors.Is(a.err, syscall.EAGAIN)
	}
	s.write = func(fd uintptr) { s.outgoing.n, s.outgoing.err = writeNow(fd, s.outgoing.b) }
	return s
}

// Read is called by one goroutine at a time.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	a := &s.incoming
	a.b = b
	err := s.raw.Read(s.read)
	a.b = nil
	switch {
	case err != nil:
		return 0, err
	case a.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: a.err}
	case a.n == 0:
		return 0, io.EOF
	}
	return a.n, nil
}

func (s *socket) tryWrite(b []byte) (sent int, err error) {
	a := &s.outgoing
	a.b = b
	err = s.raw.Control(s.write) // it is in the mode in which nothing waits, always
	a.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(a.err, syscall.EAGAIN):
		return 0, nil
	case a.err != nil:
		return 0, a.err
	}
	return a.n, nil
}
