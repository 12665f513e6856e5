// Package placementstatus has what the coordinator of placement knows, for the status pages of all
// nodes. The JSON names are those of the page.
package placementstatus

import (
	"context"
	"time"
)

// A Source asks the coordinator, wherever it runs. A system on which placement was started has one.
type Source func(ctx context.Context) (Overview, error)

// An Overview is what the coordinator knows.
type Overview struct {
	_             struct{}          `cbor:",toarray"`
	Coordinator   string            `json:"coordinator"`   // the name of its node
	States        map[string]int    `json:"states"`        // actors by state
	Moves         map[string]uint64 `json:"moves"`         // actors that had to be started anew since the coordinator began, by cause
	StartFailures uint64            `json:"startFailures"` // since the coordinator began
	Nodes         []Node            `json:"nodes"`         // by name
	Actors        []Actor           `json:"actors"`        // those in trouble first, then those that do not run, then by label
	LeftOut       int               `json:"actorsLeftOut"`
}

// A Node is a member on which actors may be placed.
type Node struct {
	_        struct{} `cbor:",toarray"`
	Name     string   `json:"name"`
	Ready    bool     `json:"ready"`    // it runs placement, and has reported to the coordinator
	Alive    bool     `json:"alive"`    // actors may be placed there
	Draining bool     `json:"draining"` // its actors are being moved away
	Actors   int      `json:"actors"`   // that run there, or are on their way
}

// An Actor is a spec, or a singleton of placement, and its actor.
type Actor struct {
	_         struct{}   `cbor:",toarray"`
	Label     string     `json:"label"`
	Type      string     `json:"type"`
	Singleton bool       `json:"singleton"`
	State     string     `json:"state"`
	Running   bool       `json:"running"`
	Node      string     `json:"node"`     // where it runs, is being started or is expected back; "" for none
	Since     *time.Time `json:"since"`    // when the state began, nil if that is unknown
	Failures  int        `json:"failures"` // failed starts, and ends without a request, in a row
	Next      *time.Time `json:"nextAttempt"`
	Trouble   bool       `json:"trouble"` // it does not run where it should, and that has lasted
	Why       string     `json:"why"`     // why it does not run, or does not move; "" if nothing is to be said
}
