package failover

import (
	"encoding/json"
	"io"
	"sync"
)

// A report is a line that a node's process prints for the director.
type report struct {
	Ack     *Ack     `json:",omitempty"`
	Stats   *stats   `json:",omitempty"` // also with every Ack
	Fenced  string   `json:",omitempty"` // the journal has refused a write, for that reason
	Final   *Counted `json:",omitempty"`
	Stopped bool     `json:",omitempty"` // the clients of the node have finished
	Failed  string   `json:",omitempty"`
}

// stats are the figures of one process so far, and what its manager knows.
type stats struct {
	Members      int    // that are up
	Incarnation  uint64 // of this node
	Here         bool   // the instance runs in this process
	Generation   string
	Sent         uint64 // increments, repetitions included
	Handled      uint64 // commands that the instances of this process have answered
	Buffered     uint64 // messages that had to wait for an instance
	DeadLettered uint64
}

// A reporter writes reports, one a line.
type reporter struct {
	mu  sync.Mutex // guards enc
	enc *json.Encoder
}

func newReporter(w io.Writer) *reporter { return &reporter{enc: json.NewEncoder(w)} }

func (r *reporter) send(m report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.enc.Encode(m) // without a director to read it, the process ends anyway
}

// The orders that the director writes to a node's standard input, one a line. The end of
// the input is the end of the process.
const (
	orderFinish = "finish" // the clients stop, each with its last increment acknowledged
	orderFinal  = "final"  // report the final state
	orderLeave  = "leave"  // leave the cluster and exit
)
