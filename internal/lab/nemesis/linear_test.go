package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// op is an operation on register "r" that was sent at from and answered at to, in seconds,
// with the value that was there; to is 0 when it was not answered.
func op(o Op, from, to int, before uint64) Operation {
	o.Register = "r"
	return Operation{
		Op: o, Client: from, Invoked: time.Duration(from) * time.Second, Returned: time.Duration(to) * time.Second,
		Answer: Answer{Value: before},
	}
}

func reading() Op               { return Op{Verb: Get} }
func writing(v uint64) Op       { return Op{Verb: Put, New: v} }
func swapping(old, v uint64) Op { return Op{Verb: Swap, Old: old, New: v} }

func TestLinearizableHistories(t *testing.T) {
	for name, history := range map[string][]Operation{
		"one after the other": {op(writing(1), 1, 2, 0), op(swapping(1, 2), 3, 4, 1), op(swapping(1, 3), 5, 6, 2), op(reading(), 7, 8, 2)},
		"at the same time":    {op(writing(1), 1, 9, 2), op(writing(2), 2, 8, 0), op(reading(), 3, 4, 2), op(reading(), 5, 6, 1)},
		"no answer, and done": {op(writing(1), 1, 0, 0), op(reading(), 3, 4, 0), op(reading(), 5, 6, 1)},
		"no answer, and not":  {op(writing(4), 1, 0, 0), op(swapping(0, 4), 2, 0, 0), op(reading(), 3, 4, 0)},
		"swapped, no answer":  {op(swapping(0, 1), 1, 0, 0), op(reading(), 3, 4, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, checkRegisters(history, map[uint64]int{1: 1, 2: 1}, t.TempDir()))
		})
	}
}

func TestRegistersThatCannotBe(t *testing.T) {
	for name, history := range map[string][]Operation{
		"a stale read":                 {op(writing(1), 1, 2, 0), op(reading(), 3, 4, 0)},
		"a read of the future":         {op(reading(), 1, 2, 1), op(writing(1), 3, 4, 0)},
		"a read that goes back":        {op(writing(1), 1, 0, 0), op(reading(), 2, 3, 1), op(reading(), 4, 5, 0)},
		"a read of what was not there": {op(writing(9), 1, 0, 0), op(reading(), 2, 3, 9)},
		"a write that is lost":         {op(writing(1), 1, 2, 0), op(writing(2), 3, 4, 0)},
		"two swaps of one value":       {op(swapping(0, 1), 1, 5, 0), op(swapping(0, 2), 2, 6, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			picture := filepath.Join(dir, "register-r.html")
			require.Equal(t, []string{"register r is not linearizable: " + picture}, checkRegisters(history, map[uint64]int{1: 1, 2: 1}, dir))
			drawn, err := os.ReadFile(picture)
			require.NoError(t, err)
			require.Contains(t, string(drawn), "<html")
		})
	}
}

func TestWhatIsWrittenTwiceIsFound(t *testing.T) {
	require.Equal(t, []string{"1 was sent to a register once, and was written 2 times"},
		checkRegisters([]Operation{op(writing(1), 1, 2, 0)}, map[uint64]int{1: 2}, t.TempDir()))
}
