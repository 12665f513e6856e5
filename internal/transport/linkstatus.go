package transport

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/remote"
)

// A linkState says whether messages to a peer can be sent. The worst has the lowest number.
type linkState int

const (
	refused    linkState = iota + 1 // failing, and one of the two nodes has refused the other in the last attempt
	failing                         // connections or attempts have failed since the peer last received something
	connecting                      // the first attempt is under way
	connected
	receiving // nothing is sent to the peer, which only sends to this node
)

var stateNames = [...]string{refused: "refused", failing: "failing", connecting: "connecting", connected: "connected", receiving: "receiving"}

// A linkStatus is one channel to and from a peer, or all channels. The JSON names of its fields are
// a stable interface; docs/status.md describes them.
type linkStatus struct {
	Peer  string     `json:"peer"` // its address
	Name  string     `json:"name"` // of the member at that address, "" if none is there
	State linkState  `json:"state"`
	Since *time.Time `json:"since"` // when the state began; nil for receiving

	Queued  int    `json:"queued"`  // messages, and parts of messages, that wait to be written
	InDoubt int    `json:"inDoubt"` // those that were written, and are not acknowledged
	Bytes   int    `json:"bytes"`   // of both
	Full    bool   `json:"full"`    // the queue has no room
	Dropped uint64 `json:"dropped"` // that had no room, made room for newer ones, or were lost with a session

	SentMessages     uint64 `json:"sentMessages"`
	SentBytes        uint64 `json:"sentBytes"` // with those that were sent again
	Resent           uint64 `json:"resent"`
	ReceivedMessages uint64 `json:"receivedMessages"` // in the present session of the peer
	ReceivedBytes    uint64 `json:"receivedBytes"`

	LastError   string     `json:"lastError"` // why a connection or an attempt has failed last, or ""
	LastErrorAt *time.Time `json:"lastErrorAt"`
}

func (s linkState) MarshalText() ([]byte, error) { return []byte(stateNames[s]), nil }

const mostLinks = 1000

// section is the Read of a [status.Section].
func (e *Endpoint) section() (map[string]any, []status.Problem) { return sectionOf(e.peerLinks()) }

// Links in trouble come first, then the longest queues.
func sectionOf(links []linkStatus) (map[string]any, []status.Problem) {
	slices.SortStableFunc(links, func(a, b linkStatus) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Queued, a.Queued), strings.Compare(cmp.Or(a.Name, a.Peer), cmp.Or(b.Name, b.Peer)))
	})
	left := max(0, len(links)-mostLinks)
	return map[string]any{"links": links[:len(links)-left], "linksLeftOut": left}, linkProblems(links)
}

func (s linkStatus) rank() int {
	switch {
	case s.State <= failing:
		return 0
	case s.Full:
		return 1
	}
	return 2
}

// The links are to members. Other peers, such as clients, may go away without a problem.
func linkProblems(links []linkStatus) []status.Problem {
	var found []status.Problem
	add := func(l linkStatus, format string, args ...any) {
		found = append(found, status.Problem{Kind: "link", About: l.Name, Text: fmt.Sprintf(format, args...)})
	}
	for _, l := range links {
		switch {
		case l.Name == "":
		case l.State == refused:
			add(l, "This node and %s refuse each other: %s.", l.Name, l.LastError)
		case l.State == failing:
			add(l, "Messages to %s wait, because this node cannot connect to it: %s.", l.Name, cmp.Or(l.LastError, "the reason is unknown"))
		case l.Full:
			add(l, "The queue of messages to %s is full: their senders wait, or the messages are dropped.", l.Name)
		}
	}
	return found
}

// peerLinks returns the links with all peers, sorted by address.
func (e *Endpoint) peerLinks() []linkStatus {
	byPeer := map[string]linkStatus{}
	add := func(channel linkStatus) { byPeer[channel.Peer] = byPeer[channel.Peer].with(channel) }
	for _, l := range e.links.to("") {
		add(l.status())
	}
	for key, got := range e.acceptor.sessions.received() {
		add(linkStatus{Peer: key.addr, State: receiving, ReceivedMessages: got.messages.Load(), ReceivedBytes: got.bytes.Load()})
	}
	all := make([]linkStatus, 0, len(byPeer))
	for _, l := range byPeer {
		l.Name = peers.NameAt(e.acceptor.system.Load(), l.Peer)
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b linkStatus) int { return cmp.Compare(a.Peer, b.Peer) })
	return all
}

// with returns s with the numbers of a channel. The worst channel decides the state.
func (s linkStatus) with(c linkStatus) linkStatus {
	s.Peer = c.Peer
	if s.State == 0 || c.State < s.State {
		s.State, s.Since = c.State, c.Since
	}
	s.Queued += c.Queued
	s.Bytes += c.Bytes
	s.InDoubt += c.InDoubt
	s.Full = s.Full || c.Full
	s.Dropped += c.Dropped
	s.SentMessages += c.SentMessages
	s.SentBytes += c.SentBytes
	s.Resent += c.Resent
	s.ReceivedMessages += c.ReceivedMessages
	s.ReceivedBytes += c.ReceivedBytes
	if c.LastErrorAt != nil && (s.LastErrorAt == nil || c.LastErrorAt.After(*s.LastErrorAt)) {
		s.LastError, s.LastErrorAt = c.LastError, c.LastErrorAt
	}
	return s
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

func (l *link) status() linkStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := l.out.Counts()
	state, since := l.timing.state(l.conn != nil)
	if state == failing && isRefusal(l.failure.err) {
		state = refused
	}
	s := linkStatus{
		Peer: l.key.addr, State: state, Since: &since,
		Queued: l.out.Unsent(), InDoubt: l.out.InFlight(), Bytes: l.out.Bytes(),
		Full: !l.out.HasRoom(1), Dropped: l.dropped,
		SentMessages: sent.Messages, SentBytes: sent.Bytes, Resent: sent.Resent,
	}
	if l.failure.err != nil {
		at := l.failure.at
		s.LastError, s.LastErrorAt = status.Text(l.failure.err.Error()), &at
	}
	return s
}

func (t *linkTiming) state(open bool) (state linkState, since time.Time) {
	switch {
	case open:
		return connected, t.opened
	case t.failures > 0:
		return failing, t.failing
	}
	return connecting, t.begun
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
