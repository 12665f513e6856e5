package delivery

import (
	"slices"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
)

type connection[M any] struct {
	outbox[part[M]]
	stream   string
	consumer actor.ActorRef[Link[M]]
	id       uint64
	newest   uint64
	deferred request       // the last request, if confirmations in it wait for the queue
	delay    time.Duration // until the oldest message is sent again; 0: no timer runs
	listed   bool          // the consumer was found under a key
	closed   bool          // it gets no new messages: not reachable, or not listed any more
	leaving  bool          // it is not listed any more

	// Of a receiver, see [ProducerByID].
	receiver bool
	backlog  fifo.Queue[*entry[M]] // its messages that have no number in the stream
	touched  bool                  // it may have something to send
	idle     uint8                 // how many sweeps have found it without messages
}

// Of receivers this is not known.
func (l *connection[M]) here(s *actor.System) bool {
	return !l.receiver && extension.Owns(s, l.consumer)
}

func (l *connection[M]) timer() string { return strconv.FormatUint(l.id, 36) }

func (l *connection[M]) unfinished(after uint64) (entries []*entry[M]) {
	for i, p := range l.All() {
		if p.last() && l.Acked()+uint64(i)+1 > after {
			entries = append(entries, p.of)
		}
	}
	return entries
}

// unsent returns the number of the last message that stays with this consumer. Later messages can
// go to others: with flowOnly they have not been sent, otherwise they have not been confirmed.
func (l *connection[M]) unsent(flowOnly bool) uint64 {
	if flowOnly {
		return l.Sent()
	}
	return l.Acked()
}

type connections[M any] []*connection[M]

func (all connections[M]) withID(id uint64) *connection[M] {
	return all.first(func(l *connection[M]) bool { return l.connected && l.id == id })
}

func (all connections[M]) to(consumer actor.ActorRef[Link[M]]) *connection[M] {
	return all.first(func(l *connection[M]) bool { return l.consumer == consumer })
}

func (all connections[M]) first(match func(*connection[M]) bool) *connection[M] {
	if i := slices.IndexFunc(all, match); i >= 0 {
		return all[i]
	}
	return nil
}

func (all connections[M]) leastBusy() (best *connection[M]) {
	for _, l := range all {
		if !l.closed && l.room() && (best == nil || l.Len() < best.Len()) {
			best = l
		}
	}
	return best
}
