package plan

import "time"

// A Fact is an event of a schedule. Facts are stored: their fields may be added to, and never
// change their meaning.
//
//sumtype:decl
type Fact interface{ fact() }

type (
	// EntrySet: the entry is new or has changed.
	EntrySet struct {
		Entry    Entry
		Declared bool // by the program, and not at run time
		At       time.Time
	}

	// EntryRemoved: there is no such entry any more.
	EntryRemoved struct {
		Name string
		Gone bool // the program does not declare it any more, so it may be forgotten
	}

	// RunsSkipped: runs that were due do not take place.
	RunsSkipped struct {
		Name  string
		Count int
		Last  time.Time // when the last of them was due
		Why   Outcome   // NotRun or Overlapped
		At    time.Time
	}

	// RunDue: a run takes place as soon as it can.
	RunDue struct {
		Name   string
		Due    time.Time
		Manual bool // it was triggered, in addition to the runs of the expression
	}

	// RunBegun: an attempt of the run begins.
	RunBegun struct {
		Name       string
		Due        time.Time
		Attempt    int // from 1
		Generation uint64
		Node       string
		At         time.Time
	}

	// RunEnded: the run is over.
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
