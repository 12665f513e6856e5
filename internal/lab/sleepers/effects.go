package sleepers

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"
)

// A step is one of those that runs make.
type step uint32

const (
	before  step = iota // the sleep
	after               // the sleep
	walking             // one of many, of a run that does not sleep
	steps   = iota
)

// effects are what the steps of a node do: they append a record to its file, which stays when the
// process is killed.
type effects struct{ file *os.File }

// A record says that a run has executed a step.
type record struct {
	run  int
	step step
	at   time.Time
}

const recordSize = 16

func (e effects) note(run int, s step) error {
	bytes := binary.BigEndian.AppendUint32(nil, uint32(run)) //nolint:gosec // it is at most 2³⁰
	bytes = binary.BigEndian.AppendUint32(bytes, uint32(s))
	_, err := e.file.Write(binary.BigEndian.AppendUint64(bytes, uint64(time.Now().UnixNano()))) //nolint:gosec // it is after 1970
	return err
}

// records returns those of a file.
func records(file string) (all []record, err error) {
	bytes, err := os.ReadFile(file)
	for ; err == nil && len(bytes) >= recordSize; bytes = bytes[recordSize:] {
		r := record{int(binary.BigEndian.Uint32(bytes)), step(binary.BigEndian.Uint32(bytes[4:])), time.Unix(0, int64(binary.BigEndian.Uint64(bytes[8:])))} //nolint:gosec // note has written it
		if r.step >= steps {
			return nil, fmt.Errorf("%s: a record of step %d", file, r.step)
		}
		all = append(all, r)
	}
	return all, err
}

// counts says how often the steps around the sleep were executed.
type counts struct {
	times    [2][]uint8
	repeated [2]int // executions beyond the first of a run
	runs     [2]int // that have executed the step
}

func newCounts(runs int) *counts {
	return &counts{times: [2][]uint8{make([]uint8, runs), make([]uint8, runs)}}
}

func (c *counts) add(all []record) error {
	for _, r := range all {
		if r.step == walking {
			continue
		}
		if r.run >= len(c.times[0]) {
			return fmt.Errorf("a record of run %d", r.run)
		}
		if c.times[r.step][r.run]++; c.times[r.step][r.run] > 1 {
			c.repeated[r.step]++
		} else {
			c.runs[r.step]++
		}
	}
	return nil
}
