//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/sqlite"
)

// tripsEnd is how long a run may take to end after the clients have ended, in a settled cluster.
const tripsEnd = time.Minute

// endTrips asks all runs for their results in the settled cluster, after the clients have ended.
func (h *harness) endTrips() {
	if h.travels == nil {
		return
	}
	from := clock()
	h.journeys = h.rec.made()
	silent, slowest := h.travels.endAll(h.journeys, tripsEnd)
	for _, id := range silent {
		h.violate("run %s has not answered within %v in the end", id, tripsEnd)
	}
	h.show.text("\n%d runs of workflows asked for their results in the end in %.1fs, the slowest answered in %.3fs", len(h.journeys), (clock() - from).Seconds(), slowest.Seconds())
}

// checkTrips finds contradictions between the clients of runs, the journal, the diaries of all
// processes, and the agency.
func (h *harness) checkTrips(ctx context.Context) error {
	if h.travels == nil {
		return nil
	}
	from := clock()
	diaries, err := readDiaries(h.dir)
	if err != nil {
		return err
	}
	journal, err := sqlite.Open(h.database()) //nolint:contextcheck // opening takes no context
	if err != nil {
		return err
	}
	defer journal.Close()
	all, accepted := h.agency.done()
	h.violations = slices.Concat(h.violations, checkEffects(all), checkAccepted(accepted))
	effects := effectsOf(all)
	var sum tripSum
	for _, j := range h.journeys {
		facts, err := readFacts(ctx, journal, j.ID)
		if err != nil {
			return err
		}
		t := newTripRecord(j, facts, diaries[j.ID], effects[tripType+"|"+j.ID])
		for _, v := range t.check() {
			h.violate("run %s: %s", j.ID, v)
		}
		sum.add(t)
	}
	h.show.text("%v\n%v; checked in %.1fs", sum, h.agency, (clock() - from).Seconds())
	return nil
}

// readDiaries returns the executions that all processes have written down in a directory, by run.
func readDiaries(dir string) (map[string][]Execution, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.trips"))
	if err != nil {
		return nil, err
	}
	all := map[string][]Execution{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, e := range readDiary(bytes.NewReader(text)) {
			all[e.Run] = append(all[e.Run], e)
		}
	}
	return all, nil
}

// effectsOf returns effects by scope and number.
func effectsOf(all []Effect) map[string]map[int]Effect {
	by := map[string]map[int]Effect{}
	for i, e := range all {
		if by[e.Scope] == nil {
			by[e.Scope] = map[int]Effect{}
		}
		by[e.Scope][i+1] = e
	}
	return by
}

// A tripSum has the figures of runs.
type tripSum struct {
	runs, acked       int
	ends              map[string]int // by state
	calls, early      int            // that were acknowledged; those that came before they were awaited
	steps, executions int
	lost, late, again int // executions: without a stored outcome, of them begun after the step was completed, and by its completing process or a later one
	incarnations      int
	generations       map[uint64]bool
}

func (s *tripSum) add(t tripRecord) {
	if s.ends == nil {
		s.ends, s.generations = map[string]int{}, map[uint64]bool{}
	}
	s.runs++
	if t.Begun {
		s.acked++
	}
	if end, ok := t.ended(); ok {
		s.ends[end.State]++
	}
	epochs := map[uint64]bool{}
	for _, f := range t.facts {
		epochs[f.Epoch], s.generations[f.Epoch>>32] = true, true
	}
	s.incarnations += len(epochs)
	for _, c := range t.Calls {
		if c.acked() {
			s.calls++
		}
	}
	s.early += t.early()
	for name := range t.outcomes {
		if isStep(name) {
			s.steps++
		}
	}
	s.executions += len(t.executions)
	for _, k := range t.incarnations() {
		s.lost += max(0, k.executions-k.failed)
		if o, stored := t.outcomes[k.step]; stored && cmp.Or(t.execution(o.Booking.By).Token, o.Epoch) == k.token {
			s.lost--
		}
	}
	firstTold := t.firstTold()
	for _, e := range t.executions {
		if t.again(e, firstTold) != "" {
			s.again++
		}
		if t.late(e, firstTold) {
			s.late++
		}
	}
}

// isStep reports whether a name is one of a step that a process executes, and not of an await.
func isStep(name string) bool { return !strings.HasPrefix(name, callName+"#") }

// String returns the figures in words.
func (s tripSum) String() string {
	return fmt.Sprintf("%d runs by %d incarnations of %d generations: %d acknowledged, %d done, %d failed, %d cancelled; %d calls acknowledged, %d of them before they were awaited\n"+
		"%d steps in %d executions: %d repeated or given up, as their process was lost before the outcome was stored; %d begun after that, by processes that were replaced; completed steps that ran again: %d",
		s.runs, s.incarnations, len(s.generations), s.acked, s.ends[tripDone], s.ends[tripFailed], s.ends[tripCancelled], s.calls, s.early,
		s.steps, s.executions, s.lost, s.late, s.again)
}

// String returns the figures of the agency in words.
func (a *agency) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := map[string]bool{}
	for _, e := range a.effects {
		keys[e.Key] = true
	}
	return fmt.Sprintf("outside: %d effects of %d calls; %d calls repeated, %d late ones refused; duplicates: %d, accepted from the dead: %d", len(a.effects), a.calls, a.repeated, a.refused, len(a.effects)-len(keys), len(checkAccepted(a.accepted)))
}
