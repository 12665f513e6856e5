// Package storestatus has what a node knows of its journals and projections, for the status page.
// The JSON names are those of the page.
package storestatus

import "time"

// Journals returns the journals that the persistent actors of a system use, by name. A system has
// one as soon as an actor uses a journal.
type Journals func() []Journal

// A Journal is what the persistent actors of a system have done with the journals of one store
// since the system started.
type Journal struct {
	Name    string `json:"name"` // package of the store
	Appends Calls  `json:"appends"`
	Claims  Calls  `json:"claims"`
	Reads   Calls  `json:"reads"`
	Events  uint64 `json:"events"` // that were appended

	Errors      map[string]uint64 `json:"errors"`      // by kind, those that have occurred
	LastError   string            `json:"lastError"`   // of any kind, "" for none
	LastErrorAt *time.Time        `json:"lastErrorAt"` // nil for none
}

// Calls are the calls of one operation of a journal.
type Calls struct {
	Count uint64  `json:"count"` // with those that have failed
	Mean  float64 `json:"meanSeconds"`
	Most  float64 `json:"p99Seconds"` // 99 of 100 calls took at most that

	// The journal has failed in the last calls. A refusal of a call, such as a fenced write, is no
	// failure of the journal.
	InARow  uint64     `json:"failedInARow"` // calls; 0 if the last one has not failed
	Since   *time.Time `json:"failingSince"` // when the first of them failed; nil if the last one has not failed
	Failure string     `json:"failure"`      // of the last one; "" if it has not failed
}

// A Projection is a projection that runs on a node.
type Projection struct {
	Name     string  `json:"name"`
	Lag      float64 `json:"lagSeconds"` // 0 when it has caught up
	Events   uint64  `json:"events"`     // handled since it started
	Skipped  uint64  `json:"skipped"`    // events
	Failures uint64  `json:"failures"`
	Stalled  int     `json:"stalled"` // workers that have failed, and have not caught up since
	Held     int     `json:"held"`    // persistence ids whose events it holds back
	Failure  string  `json:"failure"` // why it is stalled, or holds something back; or ""
}
