package delivery

import (
	"slices"

	"github.com/understudy-go/understudy/actor/extension"
)

// An inbox knows how far a consumer has come in a stream. It is pure. What has a number may
// be a part of a message.
type inbox struct {
	window    uint64
	received  uint64
	whole     uint64 // the last part of the newest message of which all have come
	confirmed uint64
	refused   []refused // of those up to confirmed, which the producer may not know, in order
	told      request   // the last one, without Refused
	lapsed    bool      // there is a gap, and the producer has been told
}

// mostTold is how many refusals are told at once.
const mostTold = 100

// mostRefused is how many refusals are kept for a producer that does not say that it knows
// them. Beyond it nothing is taken.
const mostRefused = 1000

// A verdict is what to do with a message.
type verdict uint8

const (
	ignore verdict = iota
	accept         // it is the next one
	answer         // say how far this has come
	again          // say that something before it was lost
)

// take decides about a message.
func (in *inbox) take(m sequenced) verdict {
	in.begin(m.Aim, m.First)
	switch {
	case m.Number == in.received+1, m.Loose && m.Number > in.received:
		in.received, in.lapsed = m.Number, false
		if !m.More {
			in.whole = m.Number
		}
		return accept
	case m.Probe && !m.Loose:
		return again
	case m.Number <= in.received:
		return answer
	case in.lapsed:
		return ignore
	}
	in.lapsed = true
	return again
}

// begin takes what a message says of those before it: all before first have been confirmed,
// by somebody.
func (in *inbox) begin(aim, first uint64) {
	if in.told.Aim != aim {
		in.told = request{Aim: aim, UpTo: first}
		in.lapsed = false
	}
	if in.received < first-1 {
		in.received, in.whole, in.lapsed = first-1, first-1, false
	}
	in.confirmed = max(in.confirmed, first-1)
}

// confirm notes that a message has been handled.
func (in *inbox) confirm(number uint64) { in.confirmed = max(in.confirmed, number) }

// refuse notes that nobody is going to handle a message.
func (in *inbox) refuse(number uint64, why extension.ErrorPayload) {
	if number <= in.confirmed {
		return // somebody else has had it
	}
	in.refused = append(in.refused, refused{Number: number, Reason: why})
	in.confirm(number)
}

// known forgets refusals of which the producer knows.
func (in *inbox) known(upTo uint64) {
	for len(in.refused) > 0 && in.refused[0].Number <= upTo {
		in.refused = in.refused[1:]
	}
}

// tellable is up to where the producer can be told what has become of messages: with
// mostTold refusals at once.
func (in *inbox) tellable() uint64 {
	if len(in.refused) > mostTold {
		return max(in.refused[mostTold-1].Number, in.told.Confirmed)
	}
	return in.confirmed
}

// limit is up to where there is room. When only parts of one message are here, there is room
// for the rest of it, however large it is.
func (in *inbox) limit() uint64 {
	if in.whole <= in.tellable() {
		return in.received + in.window
	}
	return max(in.told.UpTo, in.tellable()+in.window)
}

// due reports whether the producer should hear of what there is room for: when it can send
// nothing more, when nothing is left here, or when half of the window is free.
func (in *inbox) due() bool {
	more, done := in.limit()-in.told.UpTo, in.tellable()-in.told.Confirmed
	if more == 0 && done == 0 {
		return false
	}
	return in.received >= in.told.UpTo || in.confirmed == in.received || max(more, done) > in.window/2
}

// say returns what the producer is told. All refusals up to the number that is told as
// confirmed are part of it, as what is told may be lost; so it may be less than there is.
func (in *inbox) say(again bool) request {
	in.told.Confirmed, in.told.Received, in.told.UpTo = in.tellable(), in.received, in.limit()
	r := in.told
	r.Again, r.Refused = again, slices.Clone(in.refused[:min(len(in.refused), mostTold)])
	return r
}
