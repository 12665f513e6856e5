package cron

import "time"

// A fact is an event of a schedule. Facts are stored: their fields may be added to, and never
// change their meaning.
//
//sumtype:decl
type fact interface{ fact() }

type (
	// An entrySet says that an entry is new or has changed.
	entrySet struct {
		Entry    Entry
		Declared bool // by the program, and not at run time
		At       time.Time
	}

	// An entryRemoved says that there is no such entry any more.
	entryRemoved struct {
		Name string
		Gone bool // the program does not declare it any more, so it may be forgotten
	}

	// A rewound says that times after To are due again. They had been dealt with while a clock was
	// ahead.
	rewound struct {
		Name string
		To   time.Time
	}

	// A runsSkipped says that runs that were due do not take place.
	runsSkipped struct {
		Name  string
		Count int
		Last  time.Time // when the last of them was due
		Why   Outcome   // NotRun or Overlapped
		At    time.Time
	}

	// A runDue says that a run takes place as soon as it can.
	runDue struct {
		Name   string
		Due    time.Time
		Manual bool // it was triggered, in addition to the runs of the expression
	}

	// A runBegun says that an attempt of a run begins.
	runBegun struct {
		Name       string
		Due        time.Time
		Attempt    int // from 1
		Generation uint64
		Node       string
		Process    uint64 // of the node: another one after a restart
		At         time.Time
	}

	// A runEnded says that a run is over.
	runEnded struct {
		Name    string
		Due     time.Time
		Outcome Outcome
		Error   string
		At      time.Time
	}
)

func (entrySet) fact()     {}
func (entryRemoved) fact() {}
func (rewound) fact()      {}
func (runsSkipped) fact()  {}
func (runDue) fact()       {}
func (runBegun) fact()     {}
func (runEnded) fact()     {}

// An Outcome is what has become of a run.
type Outcome string

// The outcomes.
const (
	Done       Outcome = "done"
	Failed     Outcome = "failed"
	NotRun     Outcome = "missed"     // nothing ran the schedule when it was due
	Overlapped Outcome = "overlapped" // the run before it was going on
)
