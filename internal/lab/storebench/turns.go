// Package storebench compares journals with the drivers that they use: the same events by the same
// statements. They run in turns, so that other load on the machine affects both.
//
// The benchmarks of each journal define the driver's part; this package has the common part.
package storebench

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Turns has the times of some contenders, which ran repeatedly one after the other.
type Turns struct {
	units int         // of work in a turn
	times [][]float64 // seconds of each contender
	cpus  [][]float64 // seconds of the processors
}

// TakeTurns runs the contenders of b. Each turn does units units of work.
func TakeTurns(b *testing.B, units int, contenders ...func() error) *Turns {
	t := &Turns{units: units, times: make([][]float64, len(contenders)), cpus: make([][]float64, len(contenders))}
	for b.Loop() {
		for i, c := range contenders {
			begin, used := time.Now(), processorTime(b)
			err := c()
			t.times[i] = append(t.times[i], time.Since(begin).Seconds())
			t.cpus[i] = append(t.cpus[i], (processorTime(b) - used).Seconds())
			require.NoError(b, err)
		}
	}
	return t
}

// Rate returns the units per second of a contender.
func (t *Turns) Rate(i int) float64 {
	sum := 0.0
	for _, seconds := range t.times[i] {
		sum += seconds
	}
	return float64(len(t.times[i])*t.units) / sum
}

// Ratio returns the time of contender i divided by the time of contender k in the same round, as
// the median of all rounds. The median limits the effect of a disturbed round.
func (t *Turns) Ratio(i, k int) float64 {
	ratios := make([]float64, len(t.times[i]))
	for n := range ratios {
		ratios[n] = t.times[i][n] / t.times[k][n]
	}
	return median(ratios)
}

// CPU returns the processor time of this process for a unit of a contender, in microseconds, as
// the median of all rounds. It depends less on other programs than the throughput does.
func (t *Turns) CPU(i int) float64 { return 1e6 * median(slices.Clone(t.cpus[i])) / float64(t.units) }

// Median returns how many seconds a turn of a contender takes.
func (t *Turns) Median(i int) float64 { return median(slices.Clone(t.times[i])) }

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// Beside reports the throughput of the first contender, a journal, as a share of the second, the
// driver alone, and the processor time of both.
func (t *Turns) Beside(b *testing.B, unit string) {
	b.ReportMetric(t.Rate(0), unit)
	b.ReportMetric(t.Rate(1), "raw/s")
	b.ReportMetric(100*t.Ratio(1, 0), "%raw")
	b.ReportMetric(t.CPU(0), "cpu-µs")
	b.ReportMetric(t.CPU(1), "raw-cpu-µs")
}
