package cron

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/cron/internal/calendar"
	"github.com/understudy-go/understudy/internal/naming"
)

// An Entry says when a job runs, and what becomes of runs that cannot.
type Entry struct {
	// Name identifies the entry within its schedule: 1 to 255 bytes without control characters.
	// Required.
	Name string

	// Spec has the five fields of crontab(5): minute, hour, day of month, month, day of week.
	// Names of months and days, lists, ranges and steps are understood, as in "30 6 1-7 * MON-FRI".
	// Sunday is 0 or 7. A day must fit both fields of days if one of them begins with a star, and
	// one of the two otherwise. Days of the month may be L, the last one, L-2, 15W, the weekday
	// nearest to the 15th, and LW; days of the week MON#1, the first Monday, and FRIL, the last
	// Friday. Required.
	Spec string

	// Zone is the time zone of Spec, a name of the IANA database such as Europe/Berlin. The
	// default, "", is UTC.
	Zone string

	// Job is the name of the job in Config.Jobs. The default is Name.
	Job string

	// Args is handed to the job, in Run.Args: at most 4096 bytes. The default is "".
	Args string

	// Missed says what becomes of runs that were due while the schedule did not run anywhere, for
	// longer than Grace. The default is [Skip].
	Missed Missed

	// Grace is how late a run may begin without having been missed, as after a failover. Runs
	// within the grace always take place, and count among the last ones of Once and All. The
	// default is one minute. It must not be negative.
	Grace time.Duration

	// Overlap says what becomes of a run that is due while the one before it is still going on. The
	// default is [SkipRun].
	Overlap Overlap

	// Jitter delays each run by a part of this time, which depends on the name and the due time and
	// is the same on each node. It spreads entries that are due at the same time. The default is no
	// delay. At most 24 hours; it should be shorter than the time between two runs.
	Jitter time.Duration

	// Paused entries have no runs, and miss none.
	Paused bool
}

// Missed is the policy for runs that were due while the schedule did not run: [Skip], [Once] or
// [All].
type Missed int

// The policies for missed runs, besides those that [All] returns.
const (
	Skip Missed = iota // none of them runs
	Once               // the last of them runs, if no later run is within its grace
)

// maxMissed is the largest argument of [All].
const maxMissed = 1000

// All returns the policy by which missed runs run one after the other: the last ones, at most as
// many as atMost, which includes the runs within the grace. Entries with an atMost that is not from
// 1 to 1000 are refused.
func All(atMost int) Missed {
	if atMost < 1 {
		return none
	}
	return Missed(atMost)
}

// none is the result of an All that makes no sense.
const none = Missed(-1)

// Overlap is the policy for runs that are due while another of their entry is going on: [SkipRun],
// [QueueRun] or [Allow].
type Overlap int

// The policies for runs that overlap.
const (
	SkipRun  Overlap = iota // the later one does not run
	QueueRun                // it runs afterwards
	Allow                   // both run at the same time
)

// The limits of entries.
const (
	maxArgs   = 4096
	maxJitter = 24 * time.Hour
	maxItems  = 1000 // entries of a schedule
)

// Check returns an error that says what is wrong with an entry.
func (e Entry) Check() error {
	if err := naming.Check(e.Name); err != nil {
		return fmt.Errorf("the name %q of an entry %w", e.Name, err)
	}
	if _, err := calendar.Parse(e.Spec, e.Zone); err != nil {
		return fmt.Errorf("entry %q: %w", e.Name, err)
	}
	if err := e.checkPolicies(); err != nil {
		return fmt.Errorf("entry %q: %w", e.Name, err)
	}
	return nil
}

func (e Entry) checkPolicies() error {
	switch {
	case e.Missed < 0 || e.Missed > maxMissed:
		return fmt.Errorf("the policy All for missed runs needs a number from 1 to %d", maxMissed)
	case e.Overlap < SkipRun || e.Overlap > Allow:
		return fmt.Errorf("the policy %d for runs that overlap does not exist; it is SkipRun, QueueRun or Allow", e.Overlap)
	case e.Grace < 0:
		return fmt.Errorf("the grace %v is negative; leave it out for one minute", e.Grace)
	case e.Jitter < 0 || e.Jitter > maxJitter:
		return fmt.Errorf("the jitter %v is not from 0 to 24 h", e.Jitter)
	case len(e.Args) > maxArgs:
		return fmt.Errorf("the arguments have %d bytes; at most %d are stored", len(e.Args), maxArgs)
	case len(e.Job) > naming.MaxLength:
		return errors.New("the name of the job is too long")
	}
	return nil
}

// JobName returns the name of the job.
func (e Entry) JobName() string { return cmp.Or(e.Job, e.Name) }

func (e Entry) grace() time.Duration { return cmp.Or(e.Grace, time.Minute) }

// sameTimes reports whether two entries are due at the same times.
func (e Entry) sameTimes(other Entry) bool {
	return e.Spec == other.Spec && e.Zone == other.Zone && e.Paused == other.Paused
}
