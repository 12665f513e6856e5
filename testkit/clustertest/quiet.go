package clustertest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

const (
	quietStep  = 100 * time.Millisecond
	quietFor   = 5               // steps in which nothing may change
	quietLimit = 2 * time.Minute // then the test fails
)

// AwaitQuiet waits until the cluster is stable: all nodes see the same members, every member is up
// and reachable, and no singleton is moving. It fails the test after two minutes, for instance if
// nodes are cut off.
func (c *Cluster) AwaitQuiet() {
	c.t.Helper()
	var last string
	for quiet, deadline := 0, time.Now().Add(quietLimit); quiet < quietFor; time.Sleep(quietStep) {
		state, settled := c.state()
		if settled && state == last {
			quiet++
		} else {
			quiet = 0
		}
		last = state
		if time.Now().After(deadline) {
			c.t.Fatalf("clustertest: not quiet after %v:\n%s", quietLimit, state)
		}
	}
}

func (c *Cluster) state() (text string, settled bool) {
	var views []string
	settled = true
	for _, n := range c.Nodes() {
		view, whole := describe(n.View(), c.size())
		moving := unsettled(n)
		settled = settled && whole && len(moving) == 0
		views = append(views, view+strings.Join(moving, ""))
	}
	same := len(slices.Compact(slices.Clone(views))) <= 1
	return strings.Join(views, "\n"), settled && same
}

func describe(v cluster.View, n int) (text string, whole bool) {
	var b strings.Builder
	whole = len(v.Members) == n
	for _, m := range v.Members {
		fmt.Fprintf(&b, "%s %v #%d  ", m.Name, m.Status, m.UpNumber)
		whole = whole && m.Status == cluster.Up && v.Reachable(m)
	}
	return b.String(), whole
}

func unsettled(n *cluster.Node) (moving []string) {
	for _, s := range singleton.Statuses(n.System) {
		settled := s.Phase == singleton.Standby || s.Phase == singleton.Host && s.Here
		if !settled || s.Held > 0 {
			moving = append(moving, fmt.Sprintf(" [%s %s, %d held]", s.Name, s.Phase, s.Held))
		}
	}
	return moving
}

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
