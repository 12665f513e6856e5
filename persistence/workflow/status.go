package workflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/status"
)

// A State is how far a run is.
type State string

// The states of a run. The last three are ends.
const (
	Running      State = "running"      // at least one goroutine of it works
	Waiting      State = "waiting"      // it sleeps, awaits a signal or waits for its next attempt
	Held         State = "held"         // it cannot go on with this program, and is tried again
	Compensating State = "compensating" // it has failed or was cancelled, and has not ended
	Done         State = "done"
	Failed       State = "failed"
	Cancelled    State = "cancelled"
)

// A Status says what a run does.
type Status struct {
	Type     string       `json:"type"`
	ID       string       `json:"id"`
	Tag      string       `json:"tag"`
	State    State        `json:"state"`
	Began    time.Time    `json:"began"`
	Ended    time.Time    `json:"ended,omitzero"` // zero before the end
	Outcomes int          `json:"outcomes"`       // steps and awaits that are done
	Steps    []StepStatus `json:"steps"`
	Signals  []string     `json:"signals"`       // names of those that nobody has awaited yet
	Unasked  []string     `json:"unasked"`       // names of outcomes for which the function did not ask, see [Changed]
	Error    string       `json:"error"`         // why it is held, has failed or was cancelled; "" otherwise
	Next     time.Time    `json:"next,omitzero"` // when a run that is held is tried again
}

// A StepStatus is a step or a wait that has not ended.
type StepStatus struct {
	Name    string    `json:"name"`
	Doing   string    `json:"doing"`          // "executing", "retrying" or "waiting"
	Attempt int       `json:"attempt"`        // the one that runs, or the next
	Error   string    `json:"error"`          // of the last attempt; "" without one
	Next    time.Time `json:"next,omitzero"`  // of the next attempt, or the end of the wait; zero for none
	Begun   time.Time `json:"begun,omitzero"` // of the attempt that runs
}

func stateOf(s state) State {
	switch {
	case s.End.State != "":
		return s.End.State
	case s.Hold.Count > 0:
		return Held
	case s.Turned.State != "":
		return Compensating
	}
	return Running
}

// status returns what the run does. It is called by the actor.
func (in *instance) status(s state) Status {
	st := Status{
		Type: in.name, ID: in.entity.ID, Tag: s.Tag, State: stateOf(s), Began: s.Begun, Ended: s.End.At,
		Outcomes: len(s.Outcomes), Error: s.Hold.Err, Next: s.Hold.Until, Steps: in.live.open(), Unasked: in.live.left(),
	}
	if rests, _ := in.live.next(); rests && st.State == Running {
		st.State = Waiting
	}
	if s.Turned.State != "" && st.State != Held {
		st.Error = failureOf(s.Turned.Err).Error()
	}
	for _, one := range s.Signals {
		st.Signals = append(st.Signals, one.Name)
	}
	return st
}

// open returns the steps and waits that have not ended, sorted by name.
func (l *live) open() (all []StepStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, e := range l.executing {
		all = append(all, StepStatus{Name: name, Doing: "executing", Attempt: e.attempt, Error: l.tries[name].Err, Begun: e.begun})
	}
	for name, p := range l.parked {
		one := StepStatus{Name: name, Doing: "waiting", Next: p.Until}
		if t, tried := l.tries[name]; tried {
			one.Doing, one.Attempt, one.Error = "retrying", t.Attempt+1, t.Err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b StepStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A registry has the runs that are in memory of a system, and counts what has become of runs here.
type registry struct {
	system  *actor.System
	mu      sync.Mutex // guards the fields below
	kinds   map[string]*kind
	runs    map[address]*instance
	counted map[countKey]uint64
	kept    map[address]kept
	ending  bool // the system shuts down
}

type countKey struct {
	typ   string
	state State
}

func registryOf(s *actor.System) *registry {
	return extension.Ensure(s, func() *registry {
		r := &registry{system: s, kinds: map[string]*kind{}, runs: map[address]*instance{}, counted: map[countKey]uint64{}, kept: map[address]kept{}}
		s.OnShutdown(actor.ActorsStop, "workflows", r.drain)
		status.AddSection(s, status.Section{Level: status.Schedules, Read: r.section})
		status.SetRuns(s, r)
		telemetry.AddSource(s, r.families)
		return r
	})
}

// free returns an error if this node has started the type: it would go on with the first function.
func (r *registry) free(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds[name] == nil {
		return nil
	}
	return fmt.Errorf("%w: this node has started the type %q before: keep what Start has returned, or call Of", ErrInvalid, name)
}

// started notes that this node has started a type.
func (r *registry) started(k *kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds[k.name] = k
}

// client returns what steers the runs of a type.
func (r *registry) client(typ string) (client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[typ]
	if k == nil {
		return client{}, fmt.Errorf("%w: this node has not started the type %q", ErrInvalid, typ)
	}
	return client{k.host, typ}, nil
}

// types returns what has become of the runs of each type on this node.
func (r *registry) types() map[string]*typeStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]*typeStatus{}
	for name := range r.kinds {
		all[name] = &typeStatus{Name: name, Counts: map[State]uint64{}, Runs: []Status{}}
	}
	for of, n := range r.counted {
		if one := all[of.typ]; one != nil { // else it is being started
			one.Counts[of.state] = n
		}
	}
	return all
}

// families are the metrics of workflows.
func (r *registry) families() []telemetry.Family {
	ended := telemetry.NewCounter("understudy_workflow_runs_total", "Runs of workflows that have begun on this node, as state running, and that have ended here, by the state of their end.", "type", "state")
	awake := telemetry.NewGauge("understudy_workflow_runs_in_memory", "Runs of workflows that are in memory of this node.", "type")
	r.mu.Lock()
	defer r.mu.Unlock()
	inMemory := map[string]int{}
	for of := range r.runs {
		inMemory[of.Type]++
	}
	for name := range r.kinds {
		awake.Add(float64(inMemory[name]), name)
		for _, state := range []State{Running, Done, Failed, Cancelled} {
			ended.Add(float64(r.counted[countKey{name, state}]), name, string(state))
		}
	}
	return []telemetry.Family{ended, awake}
}

func (r *registry) add(in *instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[in.live.of] = in
	in.live.kept = r.kept[in.live.of].by(in.live.epoch)
	delete(r.kept, in.live.of)
	if r.ending {
		in.live.leave()
	}
}

// drain lets no step of this system begin, and waits for the outcomes of those that run. A node
// that leaves its cluster has done so before, see [instance.leave].
func (r *registry) drain(ctx context.Context) error {
	r.mu.Lock()
	r.ending = true
	all := slices.Collect(maps.Values(r.runs))
	r.mu.Unlock()
	for _, in := range all {
		in.live.leave()
	}
	ctx, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	for _, in := range all {
		if in.live.idle() {
			continue
		}
		select {
		case <-in.live.gone: // it ends with its last outcome
		case <-ctx.Done():
			return nil // these steps run again after the next start
		}
	}
	return nil
}

func (r *registry) remove(in *instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs[in.live.of] == in {
		delete(r.runs, in.live.of)
	}
}

// count notes that a run of a type has begun here, or has ended in a state.
func (r *registry) count(typ string, s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counted[countKey{typ, s}]++
}

// inMemory returns the runs that are in memory, sorted.
func (r *registry) inMemory() []*instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Values(r.runs), func(a, b *instance) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.entity.ID, b.entity.ID))
	})
}

// TagOf returns the tag that a journal gives to the events of a type with which runs begin, turn,
// are held and end, for [journal.Query].
func TagOf(typ string) string { return "workflow:" + typ }
