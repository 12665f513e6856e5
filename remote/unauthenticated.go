package remote

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// strangers bounds what those cost who have connected and not said yet who they are.
type unauthenticated struct {
	max, maxPerHost int

	mu      sync.Mutex // guards waiting
	waiting []*unauthenticatedConn
}

// A stranger is a connection of nobody known.
type unauthenticatedConn struct {
	conn  net.Conn
	host  string
	since time.Time
}

// strangerGrace is after how long a stranger has to make room for another one of its host.
// Until then it stays: many nodes of one host may start at once.
const unauthenticatedGrace = 250 * time.Millisecond

// enter counts a connection, or returns nil when its host has enough of them that have only
// just come. When all together are too many, the oldest has to go: who belongs here needs a
// moment only.
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
		s.turnOut(oldest)
	case len(s.waiting) >= s.max:
		s.turnOut(0)
	}
	s.waiting = append(s.waiting, x)
	return x
}

// turnOut closes a connection that waits. The caller holds mu.
func (s *unauthenticated) turnOut(i int) {
	discard(s.waiting[i].conn)
	s.waiting = slices.Delete(s.waiting, i, i+1)
}

// leave says that a connection is a stranger's no more, or is none any more.
func (s *unauthenticated) leave(x *unauthenticatedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// hostOf returns whom a connection is from: one address of IPv4, or the 64 bits of an
// address of IPv6 that stand for a network, as each host of it has all the rest.
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

// maxUntrusted bounds what is read from a connection before it is authenticated by TLS: a
// chain of certificates fits in.
const maxUnauthenticatedBytes = 32 << 10

var errUnauthenticatedBytes = fmt.Errorf("%w: more than %d bytes before it is known who it is", ErrFrame, maxUnauthenticatedBytes)

// A metered is a connection from which only so much can be read, until it is trusted. It
// begins with what has been read from it before.
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

// A ration lets so many warnings through each minute: strangers could fill disks with them.
type rateLimit struct {
	mu    sync.Mutex // guards all below
	since time.Time
	count int
}

const warningsPerMinute = 10

func (r *rateLimit) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.since) >= time.Minute {
		r.since, r.count = now, 0
	}
	r.count++
	return r.count <= warningsPerMinute
}
