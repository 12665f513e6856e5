package cron

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton"
)

// MaxEntries is how many entries a schedule has at most: 1000.
const MaxEntries = maxItems

// A Config has the settings of a schedule. It is the same on all nodes of one version of a program.
type Config struct {
	// Name tells schedules of one cluster and journal apart. Its singleton is named "cron-" and
	// this name, as in singleton.StatusOf. The default is "cron".
	Name string

	// Jobs are what entries run, by name. Required, also on nodes that host the schedule only after
	// others have left.
	Jobs map[string]Job

	// Entries are those that the program declares. An entry that was changed at run time stays as
	// it is until the program declares it differently than before. One that the program no longer
	// declares is removed. By default there are only those that were added at run time.
	Entries []Entry

	// MaxRuns is how many runs may go on at the same time. Others wait, those that were due first
	// before the others. The default is 100. It must not be negative.
	MaxRuns int

	// Options are those of the singleton that runs the schedule, as singleton.Role. The schedule
	// sets AtLeastOnce and StopMessage itself. By default there are no others.
	Options []singleton.Option
}

// withDefaults returns c with the defaults of the fields that are not set.
func (c Config) withDefaults() (Config, error) {
	c.Name, c.MaxRuns = cmp.Or(c.Name, "cron"), cmp.Or(c.MaxRuns, 100)
	switch {
	case len(c.Jobs) == 0:
		return c, fmt.Errorf("Config.Jobs has no job")
	case c.MaxRuns < 0:
		return c, fmt.Errorf("Config.MaxRuns is %d; leave it out for 100", c.MaxRuns)
	case len(c.Entries) > MaxEntries:
		return c, fmt.Errorf("Config.Entries has %d entries; a schedule has at most %d, and a program may have several schedules", len(c.Entries), MaxEntries)
	}
	if err := naming.CheckLength(c.Name, maxName); err != nil {
		return c, fmt.Errorf("Config.Name %q %w", c.Name, err)
	}
	for name, job := range c.Jobs {
		if job.run == nil {
			return c, fmt.Errorf("Config.Jobs[%q] is the zero Job; make it with Func, Tell or Ask", name)
		}
	}
	return c, errors.Join(singleton.Check(c.Options...), c.checkEntries())
}

// maxName is the largest length of the name of a schedule, in bytes.
const maxName = 100

func (c Config) checkEntries() error {
	var wrong []error
	seen := map[string]bool{}
	for _, e := range c.Entries {
		if err := c.check(e); err != nil {
			wrong = append(wrong, err)
		}
		if seen[e.Name] {
			wrong = append(wrong, fmt.Errorf("Config.Entries has two entries with the name %q", e.Name))
		}
		seen[e.Name] = true
	}
	return errors.Join(wrong...)
}

// check returns what is wrong with an entry.
func (c Config) check(e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	if _, known := c.Jobs[e.JobName()]; !known {
		return fmt.Errorf("entry %q: Config.Jobs has no job %q", e.Name, e.JobName())
	}
	return nil
}
