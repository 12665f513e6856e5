// Command stopwatch measures how long singletons are unavailable, in real time, with default
// settings, over loopback:
//
//	go run ./internal/lab/stopwatch -kills 50 -moves 50 -crowds 10
//
// A kill sends SIGKILL to the process that hosts an event-sourced singleton, in a cluster of three
// processes. It measures the time until the first reply of another instance. In a move, the host of
// an idle cluster of three nodes leaves. It measures the time from the call to Leave until the
// first reply of the next instance. A crowd is a move with a hundred singletons on the host.
//
//	go run ./internal/lab/stopwatch -many 10000 [-fenced]
//
// This form measures how long that many singletons take to answer after they are spawned, and after
// SIGKILL of their host.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster"
)

func main() {
	if beNode() {
		return
	}
	kills := flag.Int("kills", 50, "how often to kill the host")
	moves := flag.Int("moves", 50, "how often the host leaves")
	crowds := flag.Int("crowds", 10, "how often the host of a hundred singletons leaves")
	singletons := flag.Int("many", 0, "only this: how many singletons three nodes have, the host of which is killed once")
	fenced := flag.Bool("fenced", false, "with -many: they are event-sourced, and so need no margin")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if *singletons > 0 {
		if err := many(ctx, *singletons, *fenced); err != nil {
			fmt.Fprintln(os.Stderr, "stopwatch:", err)
			os.Exit(1)
		}
		return
	}
	if err := measure(ctx, *kills, *moves, *crowds); err != nil {
		fmt.Fprintln(os.Stderr, "stopwatch:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, kills, moves, crowds int) error {
	fmt.Printf("%s/%s, %d processors, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().Format(time.DateOnly))
	fmt.Printf("%-46s %5s %8s %8s %8s   %s\n", "", "times", "median", "p99", "most", "expected at most")
	failover := cluster.Config{}.Expected().FailoverFenced
	for _, m := range []struct {
		what     string
		times    int
		run      func(ctx context.Context, times int) ([]time.Duration, error)
		expected string
	}{
		{"SIGKILL of the host to the first reply", kills, kill, ms(failover) + " and recovery"},
		{"Leave of the host to the first reply", moves, move, "two round trips, and its end"},
		{"… of 100 singletons, to each one's first reply", crowds, func(ctx context.Context, n int) ([]time.Duration, error) { return crowd(ctx, n, false) }, "-"},
		{"… to the last one's first reply", crowds, func(ctx context.Context, n int) ([]time.Duration, error) { return crowd(ctx, n, true) }, "-"},
	} {
		if m.times == 0 {
			continue
		}
		took, err := m.run(ctx, m.times)
		if err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
		slices.Sort(took)
		fmt.Printf("%-46s %5d %8s %8s %8s   %s\n", m.what, len(took), ms(percentile(took, 50)), ms(percentile(took, 99)), ms(took[len(took)-1]), m.expected)
	}
	return nil
}

// percentile returns the least of sorted times that p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1]
}

func ms(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
