package transport

import (
	"errors"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/remote"
)

type refusalCount struct {
	byRefusal               [remote.RefusedIdentity + 1]atomic.Uint64
	frame, untaken, tooMany atomic.Uint64
}

// ended counts only what this node has refused.
func (c *refusalCount) ended(err error) {
	switch refused, ok := errors.AsType[*refusal](err); {
	case ok:
		c.byRefusal[refused.reason].Add(1)
	case errors.Is(err, remote.ErrNotAuthenticated):
		c.byRefusal[remote.RefusedIdentity].Add(1)
	case errors.Is(err, remote.ErrFrame):
		c.frame.Add(1)
	case errors.Is(err, errUntaken):
		c.untaken.Add(1)
	}
}

// Other connections had to make room for evicted more.
func (c *refusalCount) family(evicted uint64) telemetry.Family {
	f := telemetry.NewCounter("understudy_remote_refused_total", "Connections of peers that this node has refused or ended.", "reason")
	for reason := remote.RefusedHello; reason <= remote.RefusedIdentity; reason++ {
		f.Add(float64(c.byRefusal[reason].Load()), reason.String())
	}
	f.Add(float64(c.frame.Load()), "invalid frame")
	f.Add(float64(c.untaken.Load()), "nobody takes it")
	f.Add(float64(c.tooMany.Load()+evicted), "too many connections")
	return f
}

type channelFigures struct {
	states         map[linkState]int
	queue, longest int
	sent           outbox.Counts
}

func (s *links) figures() map[channel]*channelFigures {
	all := map[channel]*channelFigures{}
	for _, l := range []channel{channelControl, channelUser} {
		all[l] = &channelFigures{states: map[linkState]int{}}
	}
	s.mu.RLock()
	for l, f := range all {
		f.sent = s.ended[l]
	}
	s.mu.RUnlock()
	for _, l := range s.to("") {
		f, one := all[l.key.channel], l.status()
		f.states[max(one.State, failing)]++
		f.queue += one.Queued
		f.longest = max(f.longest, one.Queued)
		f.sent.Add(l.counts())
	}
	return all
}

func (e *Endpoint) families() []telemetry.Family {
	count := telemetry.NewGauge("understudy_remote_links", "Channels to other nodes on which something is or was sent.", "channel", "state")
	queue := telemetry.NewGauge("understudy_remote_queue_messages", "Messages and parts of messages that wait to be written to other nodes.", "channel")
	longest := telemetry.NewGauge("understudy_remote_queue_messages_max", "The longest queue to another node.", "channel")
	sent := telemetry.NewCounter("understudy_remote_sent_messages_total", "Messages that were written to connections with other nodes.", "channel")
	sentBytes := telemetry.NewCounter("understudy_remote_sent_bytes_total", "Bytes of messages that were written, with those that were written again.", "channel")
	resent := telemetry.NewCounter("understudy_remote_resent_total", "Messages and parts of messages that were written again on another connection.", "channel")
	received := telemetry.NewCounter("understudy_remote_received_messages_total", "Messages that other nodes have sent.", "channel")
	receivedBytes := telemetry.NewCounter("understudy_remote_received_bytes_total", "Bytes of messages that other nodes have sent.", "channel")
	figures := e.links.figures()
	for _, l := range []channel{channelControl, channelUser} {
		f, name := figures[l], l.String()
		for _, state := range []linkState{connecting, connected, failing} {
			count.Add(float64(f.states[state]), name, stateNames[state])
		}
		queue.Add(float64(f.queue), name)
		longest.Add(float64(f.longest), name)
		sent.Add(float64(f.sent.Messages), name)
		sentBytes.Add(float64(f.sent.Bytes), name)
		resent.Add(float64(f.sent.Resent), name)
		received.Add(float64(e.received.of(l).messages.Load()), name)
		receivedBytes.Add(float64(e.received.of(l).bytes.Load()), name)
	}
	undecodable := telemetry.NewCounter("understudy_remote_undecodable_total", "Messages of other nodes that could not be decoded.").With(float64(e.lost.Load()))
	return []telemetry.Family{count, queue, longest, sent, sentBytes, resent, received, receivedBytes, undecodable, e.acceptor.refused.family(e.acceptor.unauthenticated.evicted.Load())}
}

// Any goroutine may use it.
type traffic struct{ messages, bytes atomic.Uint64 }

// Only total may be read by other goroutines than the reading one.
type arrivals struct {
	messages, bytes uint64   // not added to the others yet
	total           *traffic // of the session
	node            *traffic // of all inbounds of the channel
}

func (a *arrivals) publish() {
	if a.messages == 0 && a.bytes == 0 {
		return
	}
	for _, t := range []*traffic{a.total, a.node} {
		t.messages.Add(a.messages)
		t.bytes.Add(a.bytes)
	}
	a.messages, a.bytes = 0, 0
}

type channelTraffic struct{ control, user traffic }

func (t *channelTraffic) of(l channel) *traffic {
	if l == channelControl {
		return &t.control
	}
	return &t.user
}
