package jetstreamtest

import (
	"net"
	"sync"
)

// A holdable network holds back what servers send while held is locked. Nobody notices that before
// a ping has no answer for minutes.
type holdable struct {
	net.Dialer
	held *sync.RWMutex
}

func (h holdable) Dial(network, address string) (net.Conn, error) {
	conn, err := h.Dialer.Dial(network, address)
	return holdableConn{conn, h.held}, err
}

type holdableConn struct {
	net.Conn
	held *sync.RWMutex
}

func (c holdableConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.held.RLock()
	defer c.held.RUnlock()
	return n, err
}
