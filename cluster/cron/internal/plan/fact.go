package plan

import "time"

// A Fact is an event of a schedule. Facts are stored: their fields may be added to, and never
// change their meaning.
//
//sumtype:decl
type Fact interface{ fact() }

type (
	// An EntrySet says that an entry is new or has changed.
	EntrySet struct {
		Entry    Entry
		Declared bool // by the program, and not at run time
		At       time.Time
	}

	// An EntryRemoved says that there is no such entry any more.
	EntryRemoved struct {
		Name string
		Gone bool // the program does not declare it any more, so it may be forgotten
	}

	// A Rewound says that times after To are due again. They had been dealt with while a clock was
	// ahead.
	Rewound struct {
		Name string
		To   time.Time
	}

	// A RunsSkipped says that runs that were due do not take place.
	RunsSkipped struct {
		Name  string
		Count int
		Last  time.Time // when the last of them was due
		Why   Outcome   // NotRun or Overlapped
		At    time.Time
	}

	// A RunDue says that a run takes place as soon as it can.
	RunDue struct {
		Name   string
		Due    time.Time
		Manual bool // it was triggered, in addition to the runs of the expression
	}

	// A RunBegun says that an attempt of a run begins.
	RunBegun struct {
		Name       string
		Due        time.Time
		Attempt    int // from 1
		Generation uint64
		Node       string
		Process    uint64 // of the node: another one after a restart
		At         time.Time
	}

	// A RunEnded says that a run is over.
	RunEnded struct {
		Name    string
		Due     time.Time
		Outcome Outcome
		Error   string
		At      time.Time
	}
)

func (EntrySet) fact()     {}
func (EntryRemoved) fact() {}
func (Rewound) fact()      {}
func (RunsSkipped) fact()  {}
func (RunDue) fact()       {}
func (RunBegun) fact()     {}
func (RunEnded) fact()     {}

// An Outcome is what has become of a run.
type Outcome string

// The outcomes.
const (
	Done       Outcome = "done"
	Failed     Outcome = "failed"
	NotRun     Outcome = "missed"     // nothing ran the schedule when it was due
	Overlapped Outcome = "overlapped" // the run before it was going on
)
