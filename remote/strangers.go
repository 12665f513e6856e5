package remote

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// strangers bounds what those cost who have connected and not said yet who they are.
type strangers struct {
	max, maxPerHost int

	mu      sync.Mutex // guards waiting
	waiting []*stranger
}

// A stranger is a connection of nobody known.
type stranger struct {
	conn net.Conn
	host string
}

// enter counts a connection, or returns nil when its host has enough of them. When all
// together are too many, the oldest has to go: who belongs here needs a moment only.
func (s *strangers) enter(conn net.Conn) *stranger {
	x := &stranger{conn: conn, host: hostOf(conn.RemoteAddr())}
	s.mu.Lock()
	defer s.mu.Unlock()
	fromHost := 0
	for _, other := range s.waiting {
		if other.host == x.host {
			fromHost++
		}
	}
	if fromHost >= s.maxPerHost {
		return nil
	}
	if len(s.waiting) >= s.max {
		discard(s.waiting[0].conn)
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	s.waiting = append(s.waiting, x)
	return x
}

// leave says that a connection is a stranger's no more, or is none any more.
func (s *strangers) leave(x *stranger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, x); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// maxUntrusted bounds what is read from a connection before it is authenticated by TLS: a
// chain of certificates fits in.
const maxUntrusted = 32 << 10

var errTalkative = fmt.Errorf("%w: more than %d bytes before it is known who it is", ErrFrame, maxUntrusted)

// A metered is a connection from which only so much can be read, until it is trusted. It
// begins with what has been read from it before.
type metered struct {
	net.Conn
	first   []byte
	left    int
	trusted bool
}

func (m *metered) Read(b []byte) (int, error) {
	switch {
	case len(m.first) > 0:
		count := copy(b, m.first)
		m.first = m.first[count:]
		return count, nil
	case m.trusted:
		return m.Conn.Read(b)
	case m.left == 0:
		return 0, errTalkative
	}
	count, err := m.Conn.Read(b[:min(len(b), m.left)])
	m.left -= count
	return count, err
}

// A ration lets so many warnings through each minute: strangers could fill disks with them.
type ration struct {
	mu    sync.Mutex // guards all below
	since time.Time
	count int
}

const warningsPerMinute = 10

func (r *ration) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.since) >= time.Minute {
		r.since, r.count = now, 0
	}
	r.count++
	return r.count <= warningsPerMinute
}
