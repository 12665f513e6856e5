package effects

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
)

// A fact is what the checks need of an event of a run.
type fact struct {
	What, Name string
	State      string // of an end
}

// A history is what the journal says of the runs.
type history struct {
	done, steps int
	wrong       []string
}

// readJournal reads the events of all runs.
func readJournal(ctx context.Context, j persistence.Journal, all []job) (h history, err error) {
	for _, one := range all {
		var facts []fact
		for record, err := range j.Read(ctx, one.scope(), 1, 1<<62) {
			if err != nil {
				return h, fmt.Errorf("read the journal of %s: %w", one.id, err)
			}
			var f fact
			if err := codec.Unmarshal(record.Payload, &f); err != nil {
				return h, fmt.Errorf("read event %d of %s: %w", record.Seq, one.id, err)
			}
			facts = append(facts, f)
		}
		h.add(one, facts)
	}
	return h, nil
}

// add checks the events of a run: each step has one outcome, and the run is done.
func (h *history) add(j job, facts []fact) {
	outcomes, ends := map[string]int{}, 0
	for _, f := range facts {
		switch f.What {
		case "finished":
			outcomes[f.Name]++
		case "ended":
			ends++
		}
	}
	h.steps += len(outcomes)
	bad := func(format string, args ...any) { h.wrong = append(h.wrong, j.id+" "+fmt.Sprintf(format, args...)) }
	for name, n := range outcomes {
		if n > 1 {
			bad("has %d outcomes of %s", n, name)
		}
	}
	if len(outcomes) != j.Effects {
		bad("has outcomes of %d steps, and not of %d", len(outcomes), j.Effects)
	}
	if last := len(facts) - 1; last < 0 || ends != 1 || facts[last].What != "ended" || facts[last].State != "done" {
		bad("has not ended once, as done")
		return
	}
	h.done++
}
