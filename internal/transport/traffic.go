package transport

import "sync/atomic"

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
