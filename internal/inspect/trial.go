package inspect

import "slices"

// A Trial is a look at everything that an actor has stored. It goes on after what cannot be read.
type Trial struct {
	// Wrote gets what the actor would store today in place of the event at seq: any number of
	// records. It is not called for events that the actor would store as they are.
	Wrote func(seq uint64, now []Stored) error

	// The results. Found.State is the state after a recovery, or nil without one.

	Events, Snapshots uint64  // how many there are
	Faults            []Fault // the first of each event or snapshot, at most [MaxFaults]
	Tagged            []Tagged
	Takes             bool    // snapshots of its state
	Recovers          bool    // there is a State
	Replays           bool    // there is an Alone
	Alone             any     // the state to which the events alone lead
	Saved             *Stored // the snapshot of the state, if it takes snapshots and there is a state
}

// MaxFaults bounds the faults of one trial.
const MaxFaults = 20

// A Stored is an event or a state in its stored form.
type Stored struct {
	Type    string
	Meta    map[string]string // of the record
	Payload []byte
}

// Tagged are the tags of an event that the actor would tag otherwise today.
type Tagged struct {
	Seq  uint64   `json:"seq"`
	Type string   `json:"type"`
	Was  []string `json:"was"`
	Now  []string `json:"now"`
}

// Tag notes other tags, unless there is an event of the same type with the same ones.
func (t *Trial) Tag(g Tagged) {
	same := func(o Tagged) bool {
		return o.Type == g.Type && slices.Equal(o.Was, g.Was) && slices.Equal(o.Now, g.Now)
	}
	if len(t.Tagged) < MaxFaults && !slices.ContainsFunc(t.Tagged, same) {
		t.Tagged = append(t.Tagged, g)
	}
}

// A Fault is an event or a snapshot that the actor cannot use.
type Fault struct {
	Kind string `json:"kind"`
	Seq  uint64 `json:"seq"`  // 0 for all of them
	Type string `json:"type"` // the registered name; "" if it is not known
	Text string `json:"text"`
}

// The kinds of faults.
const (
	FaultRead     = "journal"  // the journal cannot read it
	FaultEvent    = "event"    // it cannot be decoded
	FaultHandler  = "handler"  // the event handler panics
	FaultEncoding = "encoding" // what the event or the state is today cannot be stored
	FaultSnapshot = "snapshot" // it cannot be decoded
	FaultTimer    = "timer"    // its message cannot be decoded
)

// Fault adds a fault, unless there is one of the same kind and place.
func (t *Trial) Fault(f Fault) {
	if n := len(t.Faults); n >= MaxFaults || n > 0 && f.Seq > 0 && t.Faults[n-1].Seq == f.Seq && t.Faults[n-1].Kind == f.Kind {
		return
	}
	t.Faults = append(t.Faults, f)
}
