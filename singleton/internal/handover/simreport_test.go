package handover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// simFound is what is measured in one run.
type simFound struct {
	starts    int
	overlap   time.Duration // in which two instances ran at once
	stale     int           // acts of an instance after a later one had acted
	refused   int           // writes, by the journal
	claims    int           // claims that the journal has refused
	corrupt   int           // stale acts that were accepted
	final     bool
	gap       time.Duration // the longest between two accepted acts
	handOvers []time.Duration
	fates     [8]int
}

// A simReport adds up runs of one mode.
type simReport struct {
	runs, overlaps, stale, corrupt, unfinished, refused, claims int
	longest                                                     time.Duration // overlap
	gaps, handOvers                                             []time.Duration
	fates                                                       [8]int
}

func (r *simReport) add(f simFound) {
	r.runs++
	for _, is := range []struct {
		true  bool
		count *int
	}{{f.overlap > 0, &r.overlaps}, {f.stale > 0, &r.stale}, {f.corrupt > 0, &r.corrupt}, {!f.final, &r.unfinished}} {
		if is.true {
			*is.count++
		}
	}
	r.refused += f.refused
	r.claims += f.claims
	r.longest = max(r.longest, f.overlap)
	r.gaps = append(r.gaps, f.gap)
	r.handOvers = append(r.handOvers, f.handOvers...)
	for i, n := range f.fates {
		r.fates[i] += n
	}
}

func simPercentile[T cmp.Ordered](of []T, p float64) (at T) {
	if len(of) == 0 {
		return at
	}
	slices.Sort(of)
	return of[min(len(of)-1, int(p*float64(len(of))))]
}

const simHead = `| mode | schedules | overlap % (longest) | stale % | writes refused | claims refused | corrupt % | not final % | longest gap p50 / p95 / p99 | hand-over p50 / p95 / p99 |
|---|---|---|---|---|---|---|---|---|---|`

func (r *simReport) row(m simMode) string {
	percent := func(n int) string {
		return strings.TrimSuffix(fmt.Sprintf("%.2f", 100*float64(n)/float64(max(1, r.runs))), ".00")
	}
	seconds := func(of []time.Duration) string {
		return fmt.Sprintf("%.2f / %.2f / %.2f s", simPercentile(of, 0.5).Seconds(), simPercentile(of, 0.95).Seconds(), simPercentile(of, 0.99).Seconds())
	}
	return fmt.Sprintf("| %s | %d | %s (%.2f s) | %s | %d | %d | %s | %s | %s | %s |", m, r.runs, percent(r.overlaps), r.longest.Seconds(),
		percent(r.stale), r.refused, r.claims, percent(r.corrupt), percent(r.unfinished), seconds(r.gaps), seconds(r.handOvers))
}
