package remote

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// links has the links of an endpoint that have not ended.
type links struct {
	tasks sync.WaitGroup       // their goroutines
	last  atomic.Pointer[link] // the link used last; most traffic goes to few peers

	mu     sync.RWMutex // guards all below
	all    map[linkKey]*link
	closed bool
}

// enqueue queues a frame for a channel of a peer. It fails with [ErrClosed], [ErrOutboxFull] or
// errTooManyChannels.
func (e *Endpoint) enqueue(key linkKey, x outbox.Frame) error {
	for {
		l, err := e.link(key)
		if err != nil {
			return err
		}
		err = l.send(x)
		if !errors.Is(err, errIdle) {
			return err
		}
		e.drop(l)
	}
}

// link returns the link with that key, and creates it if necessary. It fails with [ErrClosed] or
// errTooManyChannels.
func (e *Endpoint) link(key linkKey) (*link, error) {
	if l := e.links.last.Load(); l != nil && l.key == key {
		return l, nil
	}
	e.links.mu.RLock()
	l := e.links.all[key]
	if l != nil && key.channel == channelUser {
		e.links.last.Store(l)
	}
	e.links.mu.RUnlock()
	if l != nil {
		return l, nil
	}
	e.links.mu.Lock()
	defer e.links.mu.Unlock()
	switch l := e.links.all[key]; {
	case l != nil:
		return l, nil
	case e.links.closed:
		return nil, ErrClosed
	case len(e.links.all) >= maxChannels:
		return nil, errTooManyChannels
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l = e.newLink(key, cancel)
	e.links.all[key] = l
	e.links.tasks.Go(func() { l.run(ctx) })
	return l, nil
}

func (e *Endpoint) newLink(key linkKey, cancel context.CancelCauseFunc) *link {
	size := e.cfg.OutboxSize
	if key.channel == channelControl {
		size = e.cfg.ControlSize
	}
	return &link{
		end:     e,
		key:     key,
		log:     e.log.With(zap.String("peer", key.addr), zap.Stringer("channel", key.channel)),
		cancel:  cancel,
		wake:    make(chan struct{}, 1),
		out:     outbox.Outbox{MaxFrames: size, MaxBytes: e.cfg.OutboxBytes},
		since:   time.Now(),
		session: e.session.Add(1),
	}
}

// drop removes a link that has ended.
func (e *Endpoint) drop(l *link) {
	e.links.mu.Lock()
	defer e.links.mu.Unlock()
	e.links.last.CompareAndSwap(l, nil)
	if e.links.all[l.key] == l {
		delete(e.links.all, l.key)
		if l.key.channel == channelControl {
			e.sealers.remove(l.key.addr) // or the peer may forget the key while it is still used
		}
	}
}

// to returns the links to an address, or all links for "".
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

// finish ends all links when they are empty, or at the deadline, and waits for that.
func (s *links) finish(by time.Time) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, l := range s.to("") {
		l.finish(by)
	}
	s.tasks.Wait()
}
