//go:build linux

package main

import "time"

// A Journey is one run of a workflow as its client saw it. Times are those of clock.
type Journey struct {
	ID         string
	Trip       Trip
	Begun      bool // acknowledged
	Calls      []Sent
	Cancelling bool        // a cancellation was sent
	Cancelled  bool        // and acknowledged
	Ends       []TripReply // each answer that said how it has ended
	Missing    int         // answers that it is not there
}

// end notes the answer to the question for the result.
func (j *Journey) end(said TripReply) {
	if said.State != tripNotFound {
		j.Ends = append(j.Ends, said)
	}
	j.hear(said)
}

// hear notes whether an answer says that the run is not there.
func (j *Journey) hear(said TripReply) {
	if said.State == tripNotFound {
		j.Missing++
	}
}

// A Sent is a call as its client sent it. A call that is sent again has another text.
type Sent struct {
	Text     string
	Invoked  time.Duration
	Returned time.Duration // 0 without an acknowledgement: the outcome is unknown
}

func (s Sent) acked() bool { return s.Returned > 0 }
