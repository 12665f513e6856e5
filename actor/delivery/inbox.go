package delivery

import "github.com/understudy-go/understudy/internal/window"

// An inbox tracks how far a consumer has come in a stream, and for how many messages it has room. A
// numbered message may be a part of a larger one.
type inbox struct {
	window.Receiver
	window   uint64
	whole    uint64  // the last part of the newest message of which all parts were received
	reported request // the last one, without Refused
}

// Beyond it no message is taken, until the producer acknowledges refusals.
const mostRefused = 1000

type verdict uint8

const (
	ignore verdict = iota
	accept
	answer // report which messages were received
	again  // report that an earlier message was lost
)

// All messages before first were handled or refused.
func (in *inbox) begin(connection, first uint64) {
	if in.reported.Connection != connection {
		in.reported = request{Connection: connection, UpTo: first}
		in.ForgetGap()
	}
	in.Begin(first)
	in.whole = max(in.whole, first-1)
}

// begin has been called for m.
func (in *inbox) take(m sequenced) verdict {
	if m.FlowOnly {
		in.AdvanceTo(m.Number)
	} else if m.Probe && m.Number != in.Received()+1 {
		return again
	}
	switch in.Take(m.Number) {
	case window.Next:
		if !m.More {
			in.whole = m.Number
		}
		return accept
	case window.Known:
		return answer
	case window.Gap:
		return again
	case window.Behind:
	}
	return ignore
}

// If all waiting parts belong to one message, there is room for the rest of it, however large it
// is.
func (in *inbox) limit() uint64 {
	if in.whole <= in.Acked() {
		return in.Received() + in.window
	}
	return max(in.reported.UpTo, in.Acked()+in.window)
}

// due is true when the producer can send nothing more, when nothing is left here, or when more than
// half of the window is free.
func (in *inbox) due() bool {
	more, done := in.limit()-in.reported.UpTo, in.Acked()-in.reported.Confirmed
	if more == 0 && done == 0 {
		return false
	}
	return in.Received() >= in.reported.UpTo || in.UpTo() == in.Received() || max(more, done) > in.window/2
}

func (in *inbox) report(again bool) request {
	in.reported.UpTo, in.reported.Received = in.limit(), in.Received()
	r := in.reported
	r.Confirmed, r.Refused = in.Ack()
	in.reported.Confirmed, r.Again = r.Confirmed, again
	return r
}
