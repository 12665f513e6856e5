package singleton_test

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
)

// A network is the transport between the systems of a test: first in, first out between
// any two of them, after a delay.
type network struct {
	mu      sync.Mutex // guards all below
	systems map[string]*actor.System
	links   map[link]*line
	delay   time.Duration
	working sync.WaitGroup
	lose    func(link, any) bool // nil loses nothing
}

// A link is one direction between two systems.
type link struct{ from, to string }

type line struct{ frames []frame }

type frame struct {
	due     time.Time
	target  extension.Target
	payload extension.Payload
}

func newNetwork() *network {
	return &network{systems: map[string]*actor.System{}, links: map[link]*line{}, delay: time.Millisecond}
}

// close waits until all that is on its way has arrived.
func (n *network) close() { n.working.Wait() }

func (n *network) connect(address string, s *actor.System) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.systems[address] = s
}

// disconnect loses all that is on its way from and to an address, now and later.
func (n *network) disconnect(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.systems, address)
}

// losing makes the network lose what lose says; nil nothing.
func (n *network) losing(lose func(link, any) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lose = lose
}

// cut loses everything between "a" and another.
func cut(b string) func(link, any) bool {
	return func(l link, _ any) bool { return l == link{"a", b} || l == link{b, "a"} }
}

func (n *network) slow(delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = delay
}

// Send implements [extension.Transport].
func (n *network) Send(s *actor.System, target extension.Target, msg any) {
	payload, err := extension.Pack(msg)
	if err != nil {
		extension.DeadLetter(s, target.Full, msg, err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := link{s.Address(), target.Address}
	if n.systems[l.from] != s || n.lose != nil && n.lose(l, msg) {
		return
	}
	if n.links[l] == nil {
		n.links[l] = &line{}
	}
	n.links[l].frames = append(n.links[l].frames, frame{time.Now().Add(n.delay), target, payload})
	if len(n.links[l].frames) == 1 {
		n.working.Go(func() { n.work(l) })
	}
}

// work delivers the frames of a link until the link is empty.
func (n *network) work(l link) {
	for f, ok := n.first(l); ok; f, ok = n.next(l) {
		time.Sleep(time.Until(f.due))
		n.mu.Lock()
		to, from := n.systems[l.to], n.systems[l.from]
		n.mu.Unlock()
		if to == nil || from == nil {
			continue
		}
		arrived := []actorhook.Arrival{{Type: f.payload.Type, Data: f.payload.Data}}
		actorhook.Internals(to).(interface {
			Arrivals() func(path string, uid uint64, all []actorhook.Arrival, by actorhook.Dispatcher)
		}).Arrivals()(f.target.Path, f.target.UID, arrived, undecodable{to, f})
	}
}

type undecodable struct {
	at *actor.System
	frame
}

func (u undecodable) Undecodable(_ int, err error) {
	extension.DeadLetter(u.at, u.target.Full, u.payload, err)
}

func (n *network) first(l link) (frame, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[l].first()
}

// next removes the frame that has been delivered. A sender that finds a link without frames starts
// to work on it, so removal and check are one step.
func (n *network) next(l link) (frame, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[l].frames = n.links[l].frames[1:]
	return n.links[l].first()
}

func (l *line) first() (frame, bool) {
	if len(l.frames) == 0 {
		return frame{}, false
	}
	return l.frames[0], true
}
