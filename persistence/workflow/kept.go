package workflow

import (
	"maps"
	"time"
)

// keepFor is how long a process keeps outcomes that the journal did not take.
const keepFor = 24 * time.Hour

// A kept has the outcomes of steps that an incarnation could not store before it ended, by the
// names of the steps. Their effects are there, so the next incarnation in this process stores them
// in place of running the steps again.
type kept struct {
	outcomes map[string]keptOutcome
	since    time.Time
	epoch    uint64 // of that incarnation
}

type keptOutcome struct {
	event event
	key   string // of the step; another key stands for another effect
}

// keep keeps what an incarnation wanted to store.
func (r *registry) keep(l *live, all []request) {
	k := kept{maps.Clone(l.kept.outcomes), time.Now(), l.epoch}
	l.mu.Lock()
	maps.DeleteFunc(k.outcomes, func(name string, _ keptOutcome) bool { _, stored := l.outcomes[name]; return stored })
	l.mu.Unlock()
	for _, one := range all {
		if e := one.event; e.What == finished && e.Attempt > 0 {
			if k.outcomes == nil {
				k.outcomes = map[string]keptOutcome{}
			}
			k.outcomes[e.Name] = keptOutcome{e, l.key(e.Name)}
		}
	}
	if len(k.outcomes) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.kept, func(_ address, one kept) bool { return time.Since(one.since) > keepFor }) // of runs that went on elsewhere
	r.kept[l.of] = k
}

// by returns the outcomes that count for an incarnation with an epoch. If another process may have
// had the run in between, a failure may only say that a receiver has refused a process that was
// replaced. So it does not count then, and the step runs again.
func (k kept) by(epoch uint64) kept {
	if epoch != k.epoch+1 {
		k.outcomes = maps.Clone(k.outcomes)
		maps.DeleteFunc(k.outcomes, func(_ string, one keptOutcome) bool { return !outcome{Value: one.event.Value}.succeeded() })
	}
	return k
}

// of returns the outcome of a step with that key.
func (k kept) of(name, key string) (event, bool) {
	one, ok := k.outcomes[name]
	return one.event, ok && one.key == key
}
