// Package cronstatus has what status pages show of schedules. Package cron provides it to package
// cluster, which must not import it.
package cronstatus

import "time"

// A Schedule is a schedule as one node knows it. The JSON names of its fields are a stable
// interface; docs/status.md describes them.
type Schedule struct {
	Name    string  `json:"name"`
	Here    bool    `json:"here"`    // this node hosts it
	Entries []Entry `json:"entries"` // if it is here, by name
}

// An Entry is an entry of a schedule.
type Entry struct {
	Name    string            `json:"name"`
	Job     string            `json:"job"`
	Spec    string            `json:"spec"`
	Zone    string            `json:"zone"` // "" for UTC
	Paused  bool              `json:"paused"`
	Next    *time.Time        `json:"next"` // when the next run begins; nil if never
	Open    []Run             `json:"open"` // runs that wait or go on
	Counts  map[string]uint64 `json:"counts"`
	Last    *Run              `json:"last"`    // the last one that has ended or was skipped; nil if no run has
	Problem string            `json:"problem"` // why this node cannot tell when it is due, or ""
}

// A Run is a run of an entry, or several that did not take place.
type Run struct {
	Due     time.Time  `json:"due"`
	Begun   *time.Time `json:"begun"`   // nil if it waits, or did not take place
	Attempt int        `json:"attempt"` // 0 if it waits, or did not take place
	Outcome string     `json:"outcome"` // "" while it is open
	Error   string     `json:"error"`
}

// A Source returns the schedules that were started on a node, by name. It asks no other node, and
// does not block.
type Source func() []Schedule
