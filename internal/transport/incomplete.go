package transport

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

// In bytes, of messages whose connections have ended. The newest message is kept in any case.
const maxIncomplete = 64 << 20

// The sender of an incomplete message continues soon on another connection, or gives up, or begins
// a new session, after which nothing needs the message. sessions.mu guards it.
type incomplete struct {
	all   []incompleteMessage // the oldest first
	bytes int
}

type incompleteMessage struct {
	of    *inbound
	timer *time.Timer
}

// late is called after patience, if there is an incomplete message.
func (h *incomplete) keep(in *inbound, patience time.Duration, late func()) {
	size := in.parts.Len()
	if size == 0 {
		return
	}
	in.parts.Trim()
	h.all = append(h.all, incompleteMessage{in, time.AfterFunc(patience, late)})
	for h.bytes += size; h.bytes > maxIncomplete && len(h.all) > 1; {
		h.giveUp(h.all[0].of)
	}
}

// The session cannot continue without the message.
func (h *incomplete) giveUp(in *inbound) {
	if h.drop(in) {
		in.over = true
	}
}

// False means that nothing is kept for in.
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
