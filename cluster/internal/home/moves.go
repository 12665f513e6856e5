package home

import "time"

// A Cause is why an actor has to be started anew. A workload may have others than those here.
type Cause string

// The causes that a workload need not name.
const (
	NodeLost   Cause = "node lost" // its node is gone
	EndedAlone Cause = "ended"     // it has ended without a request, with or without an error
)

// Moved is an effect that asks for nothing: it reports that an actor that had to be started anew
// runs again, perhaps on the same node, or that the attempt has failed.
type Moved struct {
	Label    string
	Request  RequestID // that started it
	From, To string    // names of nodes
	Cause    Cause
	Began    time.Time // when it ended on the node From, or when the attempt before this one failed
	Error    string    // why it does not run on the node To; "" if it does
}

// IsEffect implements [Effect].
func (Moved) IsEffect() {}

// A vacancy is what is left of an actor that had to be started anew, until it runs again.
type vacancy struct {
	from  NodeID // on which it ran
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
func (v *vacancies) leave(p *Place, cause Cause, now time.Time) bool {
	ran := p.Phase == Running || p.Phase == Starting && p.Request.ID.Epoch != v.epoch // a former coordinator has started it
	if !ran || p.Orphan {
		return false
	}
	v.all[p.Request.Label] = vacancy{from: p.On, since: now, cause: cause}
	return true
}

// fill ends the vacancy of a label, because its actor runs at p. With a problem it still runs
// there.
func (v *vacancies) fill(p *Place, problem string, report *outbox) {
	if was, vacant := v.all[p.Request.Label]; vacant {
		delete(v.all, p.Request.Label)
		report.Emit(was.moved(p, problem))
	}
}

// miss notes that the actor of a vacant label did not start at p. The next attempt is a move of its
// own.
func (v *vacancies) miss(p *Place, problem string, now time.Time, report *outbox) {
	if was, vacant := v.all[p.Request.Label]; vacant {
		report.Emit(was.moved(p, problem))
		was.since = now
		v.all[p.Request.Label] = was
	}
}

// Left notes that the actor of a label, which this coordinator has no place for, has ended on a
// node, and is to be started anew.
func (v *vacancies) Left(label string, from NodeID, cause Cause, now time.Time) {
	v.all[label] = vacancy{from: from, since: now, cause: cause}
}

// GiveUp notes that the actor of a label is not to be started anew.
func (v *vacancies) GiveUp(label string) { delete(v.all, label) }

func (v vacancy) moved(p *Place, problem string) Moved {
	return Moved{Label: p.Request.Label, Request: p.Request.ID, From: v.from.Name, To: p.On.Name, Cause: v.cause, Began: v.since, Error: problem}
}

// StoppedItself is why an actor has to be started anew that has neither failed nor been stopped.
const StoppedItself = "it has stopped by itself"
