package peers

import (
	"fmt"
	"time"
)

// Failover is what a cluster expects of its failovers. The System of a node has it as an extension.
type Failover struct {
	// Margin is how long an actor on a node that was removed may still run.
	Margin time.Duration

	// Fenced is how long after the death of a node what ran there starts elsewhere, at the latest,
	// if a journal fences what ran before. Unfenced is the same without a journal. They are
	// negative if that never happens, and 0 if nothing is known.
	Fenced, Unfenced time.Duration
}

// Since says for people since when something is unavailable, and until when at the latest if the
// cause is the death of a node.
func (f Failover) Since(began time.Time, fenced bool) string {
	const clock = "15:04:05.000 MST"
	if began.IsZero() {
		return ""
	}
	within := f.Unfenced
	if fenced {
		within = f.Fenced
	}
	text := "; unavailable since " + began.UTC().Format(clock)
	switch {
	case within > 0 && time.Since(began) > within:
		text += ", for longer than a failover takes"
	case within > 0:
		text += fmt.Sprintf(", and if a node has died, until %s at the latest", began.Add(within).UTC().Format(clock))
	case within < 0:
		text += ", and if a node has died, until somebody downs it"
	}
	return text
}
