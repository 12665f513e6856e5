package effects

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A report compares what the runs, the ledger of the sink and the journal say.
type report struct {
	jobs   []job
	ledger tally
	runs   history
	took   time.Duration // from the first run to the end of the last one
	faults []struck
	wrong  []string
}

// compare looks for what is wrong. results are those of the jobs.
func compare(jobs []job, results []int64, ledger tally, runs history) *report {
	r := &report{jobs: jobs, ledger: ledger, runs: runs}
	for _, one := range ledger.twice {
		r.bad("an effect was made more than once: %s", one)
	}
	for _, one := range ledger.late {
		r.bad("a process that was replaced has made an effect: %s", one)
	}
	want := 0
	for i, j := range jobs {
		want += j.Effects
		if s := ledger.sums[j.scope()]; s != (sum{int64(j.Effects), results[i]}) {
			r.bad("the run %s has %d effects with the sum %d in the ledger, and has seen %d with the sum %d", j.id, s.effects, s.serials, j.Effects, results[i])
		}
	}
	if ledger.effects != want || ledger.keys != want {
		r.bad("the ledger has %d effects of %d keys, and not %d", ledger.effects, ledger.keys, want)
	}
	if len(ledger.sums) != len(jobs) {
		r.bad("the ledger has effects of %d runs, and there were %d", len(ledger.sums), len(jobs))
	}
	for _, one := range runs.wrong {
		r.bad("in the journal, the run %s", one)
	}
	return r
}

func (r *report) bad(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *report) print() {
	fmt.Printf("%d effects of %d runs in %v, %.0f per second; the longest time without one was %v\n",
		r.ledger.effects, len(r.jobs), tenths(r.took), float64(r.ledger.effects)/r.took.Seconds(), r.ledger.pause.Round(time.Millisecond))
	took := map[string][]time.Duration{}
	for _, f := range r.faults {
		took[f.fault] = append(took[f.fault], f.took)
	}
	for _, fault := range slices.Sorted(maps.Keys(took)) {
		all := slices.Sorted(slices.Values(took[fault]))
		fmt.Printf("  %3d × %-20s over after %v to %v, median %v\n", len(all), fault+":", tenths(all[0]), tenths(all[len(all)-1]), tenths(all[len(all)/2]))
	}
	fmt.Printf("ledger: %d keys; late calls refused: %d; repetitions answered from the stored answer: %d", r.ledger.keys, r.ledger.others["replaced"], r.ledger.others["again"])
	for _, what := range slices.Sorted(maps.Keys(r.ledger.others)) {
		if what != "replaced" && what != "again" {
			fmt.Printf("; answered with %s: %d", what, r.ledger.others[what])
		}
	}
	fmt.Printf("\njournal: %d runs done, %d steps with an outcome\n", r.runs.done, r.runs.steps)
	if len(r.wrong) == 0 {
		fmt.Println("each effect was made once, and none by a process that was replaced")
	}
}

// shown is how many findings a verdict has.
const shown = 20

// verdict returns an error if anything is wrong.
func (r *report) verdict() error {
	if len(r.wrong) == 0 {
		return nil
	}
	text := strings.Join(r.wrong[:min(shown, len(r.wrong))], "\n  ")
	if more := len(r.wrong) - shown; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return errors.New("checks have failed; please report it, with the output above:\n  " + text)
}
