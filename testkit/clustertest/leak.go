package clustertest

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

var bubbleOf = regexp.MustCompile(`^goroutine \d+ \[.*synctest bubble (\d+)`)

const maxTraces = 10

// The traces have the places where the goroutines were started.
func leftInBubble() string {
	var last int
	left := map[int][]string{}
	for trace := range strings.SplitSeq(allTraces(), "\n\n") {
		if of := bubbleOf.FindStringSubmatch(trace); of != nil {
			number, _ := strconv.Atoi(of[1]) // they are digits
			left[number] = append(left[number], strings.TrimSpace(trace))
			last = max(last, number)
		}
	}
	traces := left[last]
	if len(traces) == 0 {
		return "no goroutine is left to be shown"
	}
	more := ""
	if len(traces) > maxTraces {
		more = fmt.Sprintf("\n\nand %d more", len(traces)-maxTraces)
		traces = traces[:maxTraces]
	}
	return "left running:\n\n" + strings.Join(traces, "\n\n") + more
}

func allTraces() string {
	for buf := make([]byte, 1<<20); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}
