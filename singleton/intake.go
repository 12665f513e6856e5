package singleton

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// A streamID is the stream of messages that one manager has numbered.
type streamID struct {
	_       struct{} `cbor:",toarray"`
	Address string
	Number  uint64 // drawn at random
}

func (s streamID) compare(o streamID) int {
	if c := strings.Compare(s.Address, o.Address); c != 0 {
		return c
	}
	if s.Number < o.Number {
		return -1
	}
	return 1
}

// A mark says that instances have handled a stream up to a number, but for what was refused.
// It stays true for ever, so any node that knows of it may tell others.
type mark struct {
	_       struct{} `cbor:",toarray"`
	Stream  streamID
	Handled uint64
	Refused []refusal // numbers up to Handled that the sender may not know of, in order
}

// A refusal says that no instance has handled a message, and none will.
type refusal struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
	Reason extension.ErrorPayload
}

// mostRefused is how many refusals are told at once.
const mostRefused = 100

// An intake knows how far each stream has come: what the instance here has been handed,
// and what instances have handled. It is pure.
type intake struct{ streams map[streamID]*stream }

type stream struct {
	from     node.ID // who sent last
	handled  uint64
	received uint64          // by the instance that runs, or handled
	voids    map[uint64]bool // received, but there is nothing to handle
	refused  []refusal       // of those received, in order of their numbers; the sender may not know
	failures int             // of instances, at the message after handled
	lapsed   bool            // there is a gap after received, and the sender has been told
	news     bool            // the sender has not been told of handled
}

// A verdict is what to do with a message.
type verdict uint8

const (
	ignore   verdict = iota // it is known already, or cannot be taken now
	accept                  // hand it to the instance
	askAgain                // something before it was lost
)

func (in *intake) stream(id streamID) *stream {
	if in.streams == nil {
		in.streams = make(map[streamID]*stream)
	}
	s := in.streams[id]
	if s == nil {
		s = &stream{}
		in.streams[id] = s
	}
	return s
}

// meet notes that from sends the stream, and that all before first has been handled.
func (in *intake) meet(id streamID, from node.ID, first uint64) *stream {
	s := in.stream(id)
	s.from = from
	s.advance(first - 1)
	for len(s.refused) > 0 && s.refused[0].Number < first {
		s.refused = s.refused[1:]
		s.news = true // there may be more than could be told
	}
	return s
}

// told is what can be said of a stream: up to which number all have been handled but for what
// was refused, which is part of it.
func (s *stream) told() (handled uint64, refused []refusal) {
	n := 0
	for n < len(s.refused) && s.refused[n].Number <= s.handled {
		n++
	}
	if n > mostRefused {
		return s.refused[mostRefused-1].Number, slices.Clone(s.refused[:mostRefused])
	}
	return s.handled, slices.Clone(s.refused[:n])
}

// refuse notes that no instance is going to handle a message, which was accepted.
func (in *intake) refuse(id streamID, number uint64, why error) {
	s := in.stream(id)
	if number <= s.handled {
		return
	}
	i, known := slices.BinarySearchFunc(s.refused, number, func(r refusal, n uint64) int { return cmp.Compare(r.Number, n) })
	if !known {
		s.refused = slices.Insert(s.refused, i, refusal{Number: number, Reason: reasonOf(why)})
	}
}

// maxReason is how many bytes of the text of a refusal cross the wire.
const maxReason = 512

// reasonOf returns what is sent of the reason of a refusal: its text and the errors that are
// compared, not those with fields.
func reasonOf(err error) extension.ErrorPayload {
	p := extension.PackError(err)
	if p.As = nil; len(p.Text) > maxReason {
		p.Text = strings.ToValidUTF8(p.Text[:maxReason], "") + " ..."
	}
	return p
}

// take decides about a message, of which open says whether an instance can be handed it.
func (in *intake) take(id streamID, from node.ID, first, number uint64, open bool) verdict {
	s := in.meet(id, from, first)
	switch {
	case number <= s.received:
		s.news = s.news || number <= s.handled // what the sender was told may have been lost
		return ignore
	case !open:
		return ignore
	case number == s.received+1:
		s.received, s.lapsed = number, false
		return accept
	case s.lapsed:
		return ignore
	}
	s.lapsed = true
	return askAgain
}

// handled notes that the instance has handled a message, and all of the stream before it.
func (in *intake) handled(id streamID, number uint64) {
	s := in.stream(id)
	s.advance(number)
	s.news = true
}

// void notes that there is nothing to handle under a number that was accepted.
func (in *intake) void(id streamID, number uint64) {
	s := in.stream(id)
	if s.voids == nil {
		s.voids = make(map[uint64]bool)
	}
	s.voids[number] = true
	s.advance(s.handled)
	s.news = true
}

// failed notes that an instance has ended by a message. It returns how many have now.
func (in *intake) failed(id streamID, number uint64) (failures int) {
	s := in.stream(id)
	if number != s.handled+1 {
		return 0
	}
	s.failures++
	return s.failures
}

// advance raises what has been handled.
func (s *stream) advance(to uint64) {
	before := s.handled
	s.handled = max(s.handled, to)
	for s.voids[s.handled+1] {
		s.handled++
	}
	if s.handled == before {
		return
	}
	s.failures = 0
	s.received = max(s.received, s.handled)
	for number := range s.voids {
		if number <= s.handled {
			delete(s.voids, number)
		}
	}
}

// begin is the beginning of an instance, which has been handed nothing yet. It returns
// the streams that go on with it.
func (in *intake) begin() []streamID {
	ids := slices.SortedFunc(maps.Keys(in.streams), streamID.compare)
	for _, id := range ids {
		s := in.streams[id]
		s.received, s.voids, s.lapsed = s.handled, nil, false
		s.refused = slices.DeleteFunc(s.refused, func(r refusal) bool { return r.Number > s.handled })
	}
	return ids
}

// news returns the streams whose senders are to be told what has been handled, once.
func (in *intake) news() []streamID {
	var ids []streamID
	for id, s := range in.streams {
		if s.news {
			s.news = false
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, streamID.compare)
	return ids
}

// marks are what another host should know.
func (in *intake) marks() []mark {
	var all []mark
	for _, id := range slices.SortedFunc(maps.Keys(in.streams), streamID.compare) {
		if s := in.streams[id]; s.handled > 0 {
			handled, refused := s.told()
			all = append(all, mark{Stream: id, Handled: handled, Refused: refused})
		}
	}
	return all
}

// learn takes what a former host knows.
func (in *intake) learn(marks []mark) {
	for _, m := range marks {
		s := in.stream(m.Stream)
		for _, r := range m.Refused {
			if r.Number > s.handled && r.Number <= m.Handled {
				s.refused = append(s.refused, r)
			}
		}
		s.advance(m.Handled)
	}
}

// forget forgets streams of which alive does not know the address.
func (in *intake) forget(alive func(address string) bool) {
	maps.DeleteFunc(in.streams, func(id streamID, _ *stream) bool { return !alive(id.Address) })
}
