package main

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/understudy-go/understudy/singleton"
)

// readRuns reads the reports of the tickers of one process. The last line may be torn, because the
// process was killed.
func readRuns(process string, in io.Reader) (runs []Run) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var at time.Duration
		var g singleton.Generation
		if _, err := fmt.Sscanf(lines.Text(), "%d %d %d", &at, &g.Term, &g.Seq); err != nil {
			return runs
		}
		if len(runs) == 0 || runs[len(runs)-1].Generation != g {
			runs = append(runs, Run{Node: process, Generation: g})
		}
		last := &runs[len(runs)-1]
		last.Said = append(last.Said, at)
	}
	return runs
}
