package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// An Operation is an [Op] as its client saw it. Times are those of clock.
type Operation struct {
	Op       Op
	Client   int // it has at most one operation in progress
	Invoked  time.Duration
	Returned time.Duration // 0 without an answer: the outcome is unknown
	Answer   Answer
}

func (o Operation) answered() bool { return o.Returned > 0 }

// decidingLimit is how long the check of one register may take.
const decidingLimit = time.Minute

// sequential is the sequential specification of one register.
var sequential = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		value, o := state.(uint64), input.(Operation)
		if o.answered() && o.Answer.Value != value {
			return false, value
		}
		if written := eventOf(o.Op, value).Value; written != 0 {
			return true, written
		}
		return o.answered(), value // what nobody has answered is here as it has written
	},
	DescribeOperation: func(input, _ any) string {
		o := input.(Operation)
		if !o.answered() {
			return fmt.Sprintf("%v (no answer)", o.Op)
		}
		return fmt.Sprintf("%v, before: %d (generation %v)", o.Op, o.Answer.Value, o.Answer.Generation)
	},
	DescribeState: func(state any) string { return fmt.Sprint(state) },
}

// checkRegisters returns the registers whose history is not linearizable. written has how often
// each written value is in the journal. A history that is not linearizable is drawn into a file in
// dir.
//
// The journal shows whether an operation without an answer took effect. One that did not is left
// out, so that a read of its value counts as a read of a value that nobody wrote.
func checkRegisters(operations []Operation, written map[uint64]int, dir string) (found []string) {
	for _, value := range slices.Sorted(maps.Keys(written)) {
		if times := written[value]; times > 1 {
			found = append(found, fmt.Sprintf("%d was sent to a register once, and was written %d times", value, times))
		}
	}
	registers := historiesOf(operations, written)
	for _, name := range slices.Sorted(maps.Keys(registers)) {
		result, info := porcupine.CheckOperationsVerbose(sequential, registers[name], decidingLimit)
		if result == porcupine.Ok {
			continue
		}
		what := "is not linearizable"
		if result == porcupine.Unknown {
			what = fmt.Sprintf("has a history that could not be decided within %v", decidingLimit)
		}
		picture := filepath.Join(dir, "register-"+name+".html")
		if err := porcupine.VisualizePath(sequential, info, picture); err != nil {
			picture = err.Error()
		}
		found = append(found, fmt.Sprintf("register %s %s: %s", name, what, picture))
	}
	return found
}

// historiesOf returns the histories of all registers, in order of invocation.
func historiesOf(operations []Operation, written map[uint64]int) map[string][]porcupine.Operation {
	var end time.Duration
	for _, o := range operations {
		end = max(end, o.Invoked, o.Returned)
	}
	registers := make(map[string][]porcupine.Operation)
	for _, o := range operations {
		returned := o.Returned
		if !o.answered() {
			if written[o.Op.New] == 0 {
				continue
			}
			returned = end + 1
		}
		registers[o.Op.Register] = append(registers[o.Op.Register],
			porcupine.Operation{ClientId: o.Client, Input: o, Call: int64(o.Invoked), Return: int64(returned)})
	}
	for _, history := range registers {
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	}
	return registers
}
