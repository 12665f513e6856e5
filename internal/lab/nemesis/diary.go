//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// An Execution is a call of the function of a step, as the process that makes it has written it
// down before it does anything else.
//
// With Told, it says instead that Step has returned the result of an execution to the function of
// the run, so that the outcome is stored. That is written each time that the function is called.
type Execution struct {
	At     time.Duration
	Run    string
	Step   string // its full name
	Token  uint64 `json:",omitempty"` // 0 with Told
	By     string // names the execution
	Told   bool   `json:",omitempty"`
	Effect int    `json:",omitempty"` // of the result, with Told
}

// A diary is the file into which a process writes executions.
type diary struct {
	file    *os.File
	process string
	written atomic.Int64 // executions
}

func openDiary(path, process string) (*diary, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &diary{file: file, process: process}, err
}

// Close closes the file.
func (d *diary) Close() error { return d.file.Close() }

// begins writes down that an execution begins, and names it.
func (d *diary) begins(e Execution) (by string, err error) {
	e.By = fmt.Sprintf("%s/%d", d.process, d.written.Add(1))
	return e.By, d.write(e)
}

// told writes down that the function of a run has got a result.
func (d *diary) told(run string, b Booking) {
	_ = d.write(Execution{Run: run, Step: b.Step, By: b.By, Effect: b.Effect, Told: true}) // a check that needs it misses it
}

// write appends one line at once, so that lines do not mix.
func (d *diary) write(e Execution) error {
	e.At = clock()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = d.file.Write(append(line, '\n'))
	}
	return err
}

// readDiary reads what a process has written down. The last line may be torn.
func readDiary(in io.Reader) (all []Execution) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var e Execution
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return all
		}
		all = append(all, e)
	}
	return all
}
