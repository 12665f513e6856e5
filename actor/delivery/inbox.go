package delivery

// An inbox knows how far a consumer has come in a stream. It is pure.
type inbox struct {
	window    uint64
	received  uint64
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

// take decides about a message. All before first have been confirmed, by somebody.
func (in *inbox) take(aim, first, number uint64, probe bool) verdict {
	if in.told.Aim != aim {
		in.told = request{Aim: aim, UpTo: first}
		in.lapsed = false
	}
	if in.received < first-1 {
		in.received, in.lapsed = first-1, false
	}
	in.confirmed = max(in.confirmed, first-1)
	switch {
	case number == in.received+1:
		in.received, in.lapsed = number, false
		return accept
	case probe:
		return again
	case number <= in.received:
		return answer
	case in.lapsed:
		return ignore
	}
	in.lapsed = true
	return again
}

// confirm notes that a message has been handled.
func (in *inbox) confirm(number uint64) { in.confirmed = max(in.confirmed, number) }

// due reports whether the producer should hear of what there is room for: when it can send
// nothing more, when nothing is left here, or when half of the window is free.
func (in *inbox) due() bool {
	upTo := in.confirmed + in.window
	if upTo <= in.told.UpTo && in.confirmed <= in.told.Confirmed {
		return false
	}
	return in.received >= in.told.UpTo || in.confirmed == in.received || in.confirmed-in.told.Confirmed > in.window/2
}

// say returns what the producer is told.
func (in *inbox) say(again bool) request {
	in.told.Confirmed, in.told.Received, in.told.UpTo = in.confirmed, in.received, in.confirmed+in.window
	r := in.told
	r.Again = again
	return r
}
