package delivery

import (
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A connection sends messages to one consumer.
type connection[M any] struct {
	outbox[part[M]]
	stream   string
	consumer actor.ActorRef[Link[M]]
	id       uint64
	deferred request       // the last request, if confirmations in it wait for the queue
	delay    time.Duration // until the oldest message is sent again; 0: no timer runs
	listed   bool          // the consumer was found under a key
	closed   bool          // it gets no new messages: not reachable, or not listed any more
	leaving  bool          // it is not listed any more
}

// timer returns the key of the connection's timer.
func (l *connection[M]) timer() string { return strconv.FormatUint(l.id, 36) }

// unfinished returns the messages that have parts with numbers above after.
func (l *connection[M]) unfinished(after uint64) (entries []*entry[M]) {
	for i, p := range l.All() {
		if p.last() && l.Acked()+uint64(i)+1 > after {
			entries = append(entries, p.of)
		}
	}
	return entries
}

// leastBusy returns the connection with room and the fewest messages; nil if none has room.
func leastBusy[M any](connections []*connection[M]) (best *connection[M]) {
	for _, l := range connections {
		if !l.closed && l.room() && (best == nil || l.Len() < best.Len()) {
			best = l
		}
	}
	return best
}
