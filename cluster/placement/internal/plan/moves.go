package plan

import "time"

// A vacancy is what is left of an actor that had to be started anew, until it runs again.
type vacancy struct {
	from  nodeID // on which it ran
	since time.Time
	cause Cause
}

// vacancies has the vacant labels, and reports when they are filled.
type vacancies struct {
	epoch uint64 // of the coordinator
	all   map[string]vacancy
}

// leave notes that the actor of a place ends, to be started anew. It returns false for an actor
// that has not run, or that no workload wants.
func (v *vacancies) leave(p *place, cause Cause, now time.Time) bool {
	ran := p.phase == running || p.phase == starting && p.start.ID.Epoch != v.epoch // a former coordinator has started it
	if !ran || p.orphan {
		return false
	}
	v.all[p.start.Label] = vacancy{from: p.on, since: now, cause: cause}
	return true
}

// fill ends the vacancy of a label, because its actor runs at p. With a problem it still runs
// there.
func (v *vacancies) fill(p *place, problem string, report *outbox) {
	if was, vacant := v.all[p.start.Label]; vacant {
		delete(v.all, p.start.Label)
		report.emit(was.moved(p, problem))
	}
}

// miss notes that the actor of a vacant label did not start at p. The next attempt is a move of its
// own.
func (v *vacancies) miss(p *place, problem string, now time.Time, report *outbox) {
	if was, vacant := v.all[p.start.Label]; vacant {
		report.emit(was.moved(p, problem))
		was.since = now
		v.all[p.start.Label] = was
	}
}

// forget notes that the actor of a label is not to be started anew.
func (v *vacancies) forget(label string) { delete(v.all, label) }

func (v vacancy) moved(p *place, problem string) Moved {
	return Moved{Label: p.start.Label, Request: p.start.ID, From: v.from.name, To: p.on.name, Cause: v.cause, Began: v.since, Error: problem}
}

// stoppedItself is why an actor has to be started anew that has neither failed nor been stopped.
const stoppedItself = "it has stopped by itself"
