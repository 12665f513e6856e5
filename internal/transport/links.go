package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/transport/outbox"
)

// Links that have ended are not among them.
type links struct {
	*localNode
	sealers *sealers             // the keys that peers grant on control channels
	session atomic.Uint64        // the newest
	running sync.WaitGroup       // the goroutines of the links
	last    atomic.Pointer[link] // most traffic goes to few peers

	mu     sync.RWMutex // guards all below
	all    map[linkKey]*link
	ended  map[channel]outbox.Counts // of links that have ended
	closed bool
}

// enqueue fails with [remote.ErrClosed], [remote.ErrOutboxFull] or errTooManyChannels.
func (s *links) enqueue(key linkKey, x outbox.Frame) error {
	for {
		l, err := s.get(key)
		if err != nil {
			return err
		}
		err = l.send(x)
		if !errors.Is(err, errIdle) {
			return err
		}
		s.drop(l)
	}
}

// openControl fails with [remote.ErrClosed] or errTooManyChannels.
func (s *links) openControl(addr string) error {
	_, err := s.get(linkKey{addr, channelControl})
	return err
}

func (s *links) renewControl(addr string) {
	for _, l := range s.to(addr) {
		if l.key.channel == channelControl {
			l.hangUp(0)
		}
	}
}

// get fails with [remote.ErrClosed] or errTooManyChannels.
func (s *links) get(key linkKey) (*link, error) {
	if l := s.last.Load(); l != nil && l.key == key {
		return l, nil
	}
	s.mu.RLock()
	l := s.all[key]
	if l != nil && key.channel == channelUser {
		s.last.Store(l)
	}
	s.mu.RUnlock()
	if l != nil {
		return l, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l := s.all[key]; {
	case l != nil:
		return l, nil
	case s.closed:
		return nil, remote.ErrClosed
	case len(s.all) >= maxChannels:
		return nil, errTooManyChannels
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l = s.newLink(key, cancel)
	s.all[key] = l
	s.running.Go(func() { l.run(ctx) })
	return l, nil
}

func (s *links) newLink(key linkKey, cancel context.CancelCauseFunc) *link {
	size := s.cfg.OutboxSize
	if key.channel == channelControl {
		size = s.cfg.ControlSize
	}
	now := time.Now()
	return &link{
		links:   s,
		key:     key,
		log:     s.log.With(zap.String("peer", key.addr), zap.Stringer("channel", key.channel)),
		cancel:  cancel,
		writer:  writerState{wake: make(chan struct{}, 1)},
		out:     outbox.Outbox{MaxFrames: size, MaxBytes: s.cfg.OutboxBytes},
		timing:  linkTiming{begun: now, since: now},
		session: linkSession{number: s.session.Add(1)},
	}
}

func (s *links) drop(l *link) {
	sent := l.counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.CompareAndSwap(l, nil)
	if s.all[l.key] == l {
		delete(s.all, l.key)
		sent.Add(s.ended[l.key.channel])
		s.ended[l.key.channel] = sent
		if l.key.channel == channelControl {
			s.sealers.remove(l.key.addr) // or the peer may forget the key while it is still used
		}
	}
}

// All links match "".
func (s *links) to(addr string) []*link {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*link
	for key, l := range s.all {
		if addr == "" || key.addr == addr {
			found = append(found, l)
		}
	}
	return found
}

// One connection has turned out to be lost. The network has probably forgotten the others too: a
// firewall was started again between a client and all nodes.
func (s *links) hangUpSilent() {
	for _, l := range s.to("") {
		if silent(l) {
			l.hangUp(0)
		}
	}
}

// finish ends the links when they are empty, or at the deadline, and waits for that.
func (s *links) finish(by time.Time) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, l := range s.to("") {
		l.finish(by)
	}
	s.running.Wait()
}
