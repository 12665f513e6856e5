package delivery

// An inbox knows how far a consumer has come in a stream. It is pure. What has a number may
// be a part of a message.
type inbox struct {
	window    uint64
	received  uint64
	whole     uint64 // the last part of the newest message of which all have come
	confirmed uint64
	told      request // the last one
	lapsed    bool    // there is a gap, and the producer has been told
}

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

// limit is up to where there is room. When only parts of one message are here, there is room
// for the rest of it, however large it is.
func (in *inbox) limit() uint64 {
	if in.whole <= in.confirmed {
		return in.received + in.window
	}
	return max(in.told.UpTo, in.confirmed+in.window)
}

// due reports whether the producer should hear of what there is room for: when it can send
// nothing more, when nothing is left here, or when half of the window is free.
func (in *inbox) due() bool {
	more, done := in.limit()-in.told.UpTo, in.confirmed-in.told.Confirmed
	if more == 0 && done == 0 {
		return false
	}
	return in.received >= in.told.UpTo || in.confirmed == in.received || max(more, done) > in.window/2
}

// say returns what the producer is told.
func (in *inbox) say(again bool) request {
	in.told.Confirmed, in.told.Received, in.told.UpTo = in.confirmed, in.received, in.limit()
	r := in.told
	r.Again = again
	return r
}
