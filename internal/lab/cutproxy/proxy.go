// Package cutproxy is a TCP proxy that can drop answers, for tests of clients of servers.
package cutproxy

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// A Proxy forwards connections to one server. Its methods may be called by any goroutine.
type Proxy struct {
	listener net.Listener
	target   string
	deaf     atomic.Bool
	running  sync.WaitGroup

	mu    sync.Mutex // guards conns
	conns map[net.Conn]bool
	lost  atomic.Int64
}

// Start starts a proxy for target on a free port of the loopback interface.
func Start(target string) (*Proxy, error) { return StartAt("127.0.0.1:0", target) }

// StartAt starts a proxy for target that listens at an address.
func StartAt(addr, target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, conns: map[net.Conn]bool{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the address at which the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// LoseAnswers sets whether answers of the server are dropped; requests still reach it. A
// connection that lost an answer is unusable, see Cut.
func (p *Proxy) LoseAnswers(lose bool) { p.deaf.Store(lose) }

// Lost returns how many bytes of answers have been dropped.
func (p *Proxy) Lost() int64 { return p.lost.Load() }

// Cut closes every connection. New ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// Close stops the proxy and waits for it.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			p.Cut() // what was accepted since Close cut the others
			return
		} else if err != nil {
			continue
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.keep(client, server)
		p.running.Go(func() { p.forward(server, client, nil) })
		p.running.Go(func() { p.forward(client, server, &p.deaf) })
	}
}

func (p *Proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.conns[conn] = true
	}
}

func (p *Proxy) forward(to, from net.Conn, deaf *atomic.Bool) {
	defer p.end(to, from)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && deaf != nil && deaf.Load() {
			p.lost.Add(int64(n))
		} else if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) end(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(p.conns, conn)
	}
}
