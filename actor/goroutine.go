package actor

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
)

// goroutine returns the number of the calling goroutine. Nothing but its stack says so, and asking
// for that costs about a microsecond.
func goroutine() uint64 {
	var space [32]byte
	text := bytes.TrimPrefix(space[:runtime.Stack(space[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("actor: cannot tell goroutines apart by %q", text))
	}
	return n
}
