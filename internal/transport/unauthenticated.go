package transport

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/remote"
)

type unauthenticated struct {
	max, maxPerHost int
	evicted         atomic.Uint64

	mu      sync.Mutex // guards waiting
	waiting []*unauthenticatedConn
}

type unauthenticatedConn struct {
	conn  net.Conn
	host  string
	since time.Time
}

// How long a connection is safe from being replaced by another one of its host, because many nodes
// of one host may start at once.
const unauthenticatedGrace = 250 * time.Millisecond

// enter returns nil if the host has too many recent connections. If there are too many in all, the
// oldest one is closed: a legitimate peer needs only a moment.
func (s *unauthenticated) enter(conn net.Conn) *unauthenticatedConn {
	x := &unauthenticatedConn{conn: conn, host: hostOf(conn.RemoteAddr()), since: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	fromHost, oldest := 0, 0
	for i, other := range slices.Backward(s.waiting) {
		if other.host == x.host {
			fromHost, oldest = fromHost+1, i
		}
	}
	switch {
	case fromHost >= s.maxPerHost && x.since.Sub(s.waiting[oldest].since) < unauthenticatedGrace:
		return nil
	case fromHost >= s.maxPerHost:
		s.evict(oldest)
	case len(s.waiting) >= s.max:
		s.evict(0)
	}
	s.waiting = append(s.waiting, x)
	return x
}

// mu is held.
func (s *unauthenticated) evict(i int) {
	s.evicted.Add(1)
	discard(s.waiting[i].conn)
	s.waiting = slices.Delete(s.waiting, i, i+1)
}

func (s *unauthenticated) leave(x *unauthenticatedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// The host is an IPv4 address, or the /64 network of an IPv6 address, because a host has all of it.
func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}

// How many bytes are read from a connection before TLS has authenticated it. A chain of
// certificates fits in.
const maxUnauthenticatedBytes = 32 << 10

var errUnauthenticatedBytes = fmt.Errorf("%w: more than %d bytes before authentication", remote.ErrFrame, maxUnauthenticatedBytes)

// Only left bytes can be read until the connection is trusted. first has what was read from it
// before.
type meteredConn struct {
	net.Conn
	first   []byte
	left    int
	trusted bool
}

func (m *meteredConn) Read(b []byte) (int, error) {
	switch {
	case len(m.first) > 0:
		count := copy(b, m.first)
		m.first = m.first[count:]
		return count, nil
	case m.trusted:
		return m.Conn.Read(b)
	case m.left == 0:
		return 0, errUnauthenticatedBytes
	}
	count, err := m.Conn.Read(b[:min(len(b), m.left)])
	m.left -= count
	return count, err
}

// A rateLimit allows ten warnings a minute, so that unauthenticated peers cannot fill disks.
type rateLimit struct {
	mu    sync.Mutex // guards all below
	since time.Time
	count int
}

const warningsPerMinute = 10

// last says that it is the last warning of its minute.
func (r *rateLimit) take() (allowed, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.since) >= time.Minute {
		r.since, r.count = now, 0
	}
	r.count++
	return r.count <= warningsPerMinute, r.count == warningsPerMinute
}
