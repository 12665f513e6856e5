package delivery

import (
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A lane leads to one consumer.
type lane[M any] struct {
	outbox[part[M]]
	stream   string
	consumer actor.ActorRef[Link[M]]
	aimID    uint64
	heard    request       // what the consumer has said, as it is not all taken note of; see hold
	delay    time.Duration // until what is unsettled is looked after; 0: no timer runs
	listed   bool          // the consumer was found under a key
	closed   bool          // it gets nothing new, as it is not reachable, or not listed any more
	leaving  bool          // it is not listed any more
}

// timer is the key of the timer of a lane.
func (l *lane[M]) timer() string { return strconv.FormatUint(l.aimID, 36) }

// unfinished returns the messages of which parts after a number are kept.
func (l *lane[M]) unfinished(after uint64) (entries []*entry[M]) {
	for i, p := range l.All() {
		if p.last() && l.Acked()+uint64(i)+1 > after {
			entries = append(entries, p.of)
		}
	}
	return entries
}

// idlest returns the lane with room that has the least to do; nil when none has room.
func idlest[M any](lanes []*lane[M]) (best *lane[M]) {
	for _, l := range lanes {
		if !l.closed && l.room() && (best == nil || l.Len() < best.Len()) {
			best = l
		}
	}
	return best
}
