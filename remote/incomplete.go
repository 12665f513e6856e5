package remote

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote/internal/wire"
)

// maxHalves bounds the bytes of messages of which some parts have come, on connections that have
// ended. The message that has come last is kept in any case.
const maxIncomplete = 64 << 20

// halves are what inbounds have of messages in parts that have ended before the last part. Who
// sends the rest gives up before long, or begins a new session; then nobody can use them. They
// are guarded by sessions.mu.
type incomplete struct {
	all   []incompleteMessage // the oldest first
	bytes int
}

// A half belongs to an inbound.
type incompleteMessage struct {
	of    *inbound
	timer *time.Timer
}

// keep keeps what in has, if anything, until late is called after that time.
func (h *incomplete) keep(in *inbound, patience time.Duration, late func()) {
	size := in.parts.Len()
	if size == 0 {
		return
	}
	h.all = append(h.all, incompleteMessage{in, time.AfterFunc(patience, late)})
	for h.bytes += size; h.bytes > maxIncomplete && len(h.all) > 1; {
		h.giveUp(h.all[0].of)
	}
}

// giveUp drops what is kept of an inbound, and ends its session: without that it cannot go on.
func (h *incomplete) giveUp(in *inbound) {
	if h.drop(in) {
		in.over = true
	}
}

// drop returns false when nothing is kept of in.
func (h *incomplete) drop(in *inbound) bool {
	i := slices.IndexFunc(h.all, func(x incompleteMessage) bool { return x.of == in })
	if i < 0 {
		return false
	}
	h.all[i].timer.Stop()
	h.all = slices.Delete(h.all, i, i+1)
	h.bytes -= in.parts.Len()
	in.parts = wire.Reassembler{}
	return true
}

func (h *incomplete) dropAll() {
	for len(h.all) > 0 {
		h.drop(h.all[0].of)
	}
}
