package transport

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/linkstatus"
	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// Links returns the channels to and from all peers, sorted by peer and channel.
func (e *Endpoint) Links() []linkstatus.Link {
	byKey := map[linkKey]linkstatus.Link{}
	for _, l := range e.links.to("") {
		byKey[l.key] = l.status()
	}
	for key, got := range e.acceptor.sessions.received() {
		s, sends := byKey[key]
		if !sends {
			s = linkstatus.Link{Peer: key.addr, Channel: key.channel.String(), State: linkstatus.Receiving}
		}
		s.ReceivedMessages, s.ReceivedBytes = got.messages.Load(), got.bytes.Load()
		byKey[key] = s
	}
	all := make([]linkstatus.Link, 0, len(byKey))
	for _, s := range byKey {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b linkstatus.Link) int {
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Channel, b.Channel))
	})
	return all
}

func (s *sessions) received() map[linkKey]*traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[linkKey]*traffic{}
	for key, in := range s.last {
		if !in.finished() {
			all[key] = in.arrivals.total
		}
	}
	return all
}

type linkFailure struct {
	err error
	at  time.Time
}

func (f *linkFailure) note(err error) { *f = linkFailure{err, time.Now()} }

func (l *link) status() linkstatus.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := l.out.Counts()
	state, since := l.timing.state(l.conn != nil)
	s := linkstatus.Link{
		Peer: l.key.addr, Channel: l.key.channel.String(), State: state, Since: since,
		Refused: state == linkstatus.Failing && isRefusal(l.failure.err),
		Queued:  l.out.Unsent(), InDoubt: l.out.InFlight(), QueuedBytes: l.out.Bytes(),
		Full: !l.out.HasRoom(1), Dropped: l.dropped,
		SentMessages: sent.Messages, SentBytes: sent.Bytes, Resent: sent.Resent,
		LastErrorAt: l.failure.at,
	}
	if l.failure.err != nil {
		s.LastError = l.failure.err.Error()
	}
	return s
}

func (t *linkTiming) state(connected bool) (state linkstatus.State, since time.Time) {
	switch {
	case connected:
		return linkstatus.Connected, t.opened
	case t.failures > 0:
		return linkstatus.Failing, t.failing
	}
	return linkstatus.Connecting, t.begun
}

func isRefusal(err error) bool {
	_, refused := errors.AsType[*remote.RefusedError](err)
	return refused || errors.Is(err, remote.ErrNotAuthenticated)
}

func (l *link) counts() outbox.Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Counts()
}
