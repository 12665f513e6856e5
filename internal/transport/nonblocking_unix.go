//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

type socketWriter struct {
	conn    syscall.RawConn
	attempt func(fd uintptr) // made once: a write allocates nothing

	b    []byte
	sent int
	err  error
}

// newSocketWriter returns nil for a connection that is not a socket of the operating system.
func newSocketWriter(conn net.Conn) nonBlockingWriter {
	socket, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	t := &socketWriter{conn: raw}
	t.attempt = func(fd uintptr) { t.sent, t.err = syscall.Write(int(fd), t.b) }
	return t
}

func (t *socketWriter) tryWrite(b []byte) (sent int, err error) {
	t.b = b
	err = t.conn.Control(t.attempt) // it is in the mode in which nothing waits, always
	t.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(t.err, syscall.EAGAIN), errors.Is(t.err, syscall.EINTR):
		return 0, nil
	case t.err != nil:
		return 0, t.err
	}
	return t.sent, nil
}
