package sleepers

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A step is one of the two of each run.
type step uint32

const (
	before step = iota
	after
)

// effects are what the steps of a node do: they append a record to its file, which stays when the
// process is killed.
type effects struct{ file *os.File }

const recordSize = 8

func (e effects) note(run int, s step) error {
	record := binary.BigEndian.AppendUint32(nil, uint32(run)) //nolint:gosec // it is at most 2³⁰
	_, err := e.file.Write(binary.BigEndian.AppendUint32(record, uint32(s)))
	return err
}

// counts says how often each step was executed.
type counts struct {
	times    [2][]uint8
	repeated [2]int // executions beyond the first of a run
	runs     [2]int // that have executed the step
}

func newCounts(runs int) *counts {
	return &counts{times: [2][]uint8{make([]uint8, runs), make([]uint8, runs)}}
}

// add counts the records of a file.
func (c *counts) add(records []byte) error {
	for ; len(records) >= recordSize; records = records[recordSize:] {
		run, s := binary.BigEndian.Uint32(records), binary.BigEndian.Uint32(records[4:])
		if s > uint32(after) || int(run) >= len(c.times[0]) {
			return fmt.Errorf("a record of step %d of run %d", s, run)
		}
		if c.times[s][run]++; c.times[s][run] > 1 {
			c.repeated[s]++
		} else {
			c.runs[s]++
		}
	}
	return nil
}
