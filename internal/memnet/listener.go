package memnet

import (
	"net"
	"sync"
)

type listener struct {
	host    *Host
	port    int
	backlog []*conn
	closed  bool
	changed *sync.Cond // on Network.mu
}

func (l *listener) Addr() net.Addr { return addr{"tcp", join(l.host.name, l.port)} }

func (l *listener) Accept() (net.Conn, error) {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	for len(l.backlog) == 0 && !l.closed {
		l.changed.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	c := l.backlog[0]
	l.backlog = l.backlog[1:]
	return c, nil
}

// Connections that were not accepted are reset.
func (l *listener) Close() error {
	l.host.net.mu.Lock()
	defer l.host.net.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	for _, c := range l.backlog {
		c.answerReset()
		c.fail(net.ErrClosed)
	}
	delete(l.host.listeners, l.port)
	l.shut()
	return nil
}

func (l *listener) shut() {
	l.closed = true
	l.backlog = nil
	l.changed.Broadcast()
}
