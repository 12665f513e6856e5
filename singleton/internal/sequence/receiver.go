package sequence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/window"
	"github.com/understudy-go/understudy/remote"
)

// A Receiver keeps how far each stream has come: what the instance here has been handed, and what
// instances have handled. The zero Receiver knows of no stream.
type Receiver struct{ streams map[wire.StreamID]*stream }

type stream struct {
	window.Receiver
	from     remote.NodeID // the node that sent last
	failures int           // of instances, at the message after UpTo
	news     bool          // the sender has not been told how far the stream has come
}

// A Verdict is what to do with a message.
type Verdict uint8

// The verdicts.
const (
	Ignore   Verdict = iota // it is known already, or cannot be taken now
	Accept                  // hand it to the instance
	AskAgain                // a message before it was lost
)

func compareStreams(a, b wire.StreamID) int {
	return cmp.Or(strings.Compare(a.Address, b.Address), cmp.Compare(a.Number, b.Number))
}

func (r *Receiver) stream(id wire.StreamID) *stream {
	if r.streams == nil {
		r.streams = make(map[wire.StreamID]*stream)
	}
	s := r.streams[id]
	if s == nil {
		s = &stream{}
		r.streams[id] = s
	}
	return s
}

// update runs f, which may raise UpTo.
func (s *stream) update(f func()) {
	before := s.UpTo()
	if f(); s.UpTo() != before { // the failures were those of a message that is done
		s.failures = 0
	}
}

// Begin notes that from sends the stream, and that all before first has been handled. It returns
// the number up to which messages were received.
func (r *Receiver) Begin(id wire.StreamID, from remote.NodeID, first uint64) (received uint64) {
	s := r.stream(id)
	s.from = from
	s.update(func() {
		if s.Begin(first) {
			s.news = true // there may be more refusals than one answer had room for
		}
	})
	return s.Received()
}

// Take decides about a message. open says whether there is an instance that can be handed it.
func (r *Receiver) Take(id wire.StreamID, from remote.NodeID, first, number uint64, open bool) Verdict {
	received := r.Begin(id, from, first)
	s := r.stream(id)
	if number <= received {
		s.news = s.news || number <= s.UpTo() // the answer may have been lost
		return Ignore
	}
	if !open { // not recorded as received: the next instance asks for it
		return Ignore
	}
	switch s.Take(number) {
	case window.Next:
		return Accept
	case window.Gap:
		return AskAgain
	case window.Known, window.Behind:
	}
	return Ignore
}

// Handled notes that the instance has handled a message, and all of the stream before it.
func (r *Receiver) Handled(id wire.StreamID, number uint64) {
	s := r.stream(id)
	s.update(func() { s.Handled(number) })
	s.news = true
}

// Skip notes that there is nothing to handle under a number that was accepted.
func (r *Receiver) Skip(id wire.StreamID, number uint64) {
	s := r.stream(id)
	s.update(func() { s.HandledOnly(number) })
	s.news = true
}

// Refuse notes that no instance is going to handle a message that was accepted.
func (r *Receiver) Refuse(id wire.StreamID, number uint64, why error) {
	r.stream(id).Refuse(number, window.ReasonOf(why))
}

// Failed notes that an instance has ended by a message. It returns how many have now.
func (r *Receiver) Failed(id wire.StreamID, number uint64) (failures int) {
	s := r.stream(id)
	if number != s.UpTo()+1 {
		return 0
	}
	s.failures++
	s.news = true
	return s.failures
}

// HasFailed notes how many instances have failed at a message, as its sender knows from former
// hosts.
func (r *Receiver) HasFailed(id wire.StreamID, number uint64, failures int) {
	if s := r.stream(id); number == s.UpTo()+1 {
		s.failures = max(s.failures, failures)
	}
}

// Ack returns the answer to the sender of a stream, and that sender; zero when this node knows the
// stream only from a former host.
func (r *Receiver) Ack(id wire.StreamID) (ack wire.Ack, to remote.NodeID) {
	s := r.stream(id)
	ack = wire.Ack{Stream: id, Received: s.Received()}
	ack.Handled, ack.Refused = s.Ack()
	ack.Failures = s.failuresAfter(ack.Handled)
	return ack, s.from
}

func (s *stream) failuresAfter(handled uint64) int {
	if handled < s.UpTo() {
		return 0 // there was no room for all refusals before it
	}
	return s.failures
}

// Restart is the beginning of an instance, which has been handed nothing yet. It returns the
// streams that continue with it.
func (r *Receiver) Restart() []wire.StreamID {
	ids := slices.SortedFunc(maps.Keys(r.streams), compareStreams)
	for _, id := range ids {
		r.streams[id].Restart()
	}
	return ids
}

// News returns the streams whose senders are to be told how far they have come, each once.
func (r *Receiver) News() []wire.StreamID {
	var ids []wire.StreamID
	for id, s := range r.streams {
		if s.news {
			s.news = false
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareStreams)
	return ids
}

// Watermarks returns what another host should know.
func (r *Receiver) Watermarks() []wire.Watermark {
	var all []wire.Watermark
	for _, id := range slices.SortedFunc(maps.Keys(r.streams), compareStreams) {
		if s := r.streams[id]; s.UpTo() > 0 || s.failures > 0 {
			handled, refused := s.Ack()
			all = append(all, wire.Watermark{Stream: id, Handled: handled, Refused: refused, Failures: s.failuresAfter(handled)})
		}
	}
	return all
}

// Learn takes what a former host knows.
func (r *Receiver) Learn(marks []wire.Watermark) {
	for _, m := range marks {
		s := r.stream(m.Stream)
		s.update(func() { s.Learn(m.Handled, m.Refused) })
		r.HasFailed(m.Stream, m.Handled+1, m.Failures)
	}
}

// Forget forgets the streams for whose address alive is false.
func (r *Receiver) Forget(alive func(address string) bool) {
	maps.DeleteFunc(r.streams, func(id wire.StreamID, _ *stream) bool { return !alive(id.Address) })
}
