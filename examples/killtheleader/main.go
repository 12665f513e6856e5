// Command killtheleader kills the leader of a ledger that issues numbers without a gap, and shows
// what the clients notice and what is stored in the end.
//
//	go -C examples/killtheleader run .
//
// Three nodes serve the ledger; one of them leads. A client sends 100 requests a second. Meanwhile
// the leader is killed with SIGKILL, paused with SIGSTOP for 20 seconds, and cut from the network
// for 20 seconds; then all nodes are restarted one by one. The same happens to each opponent:
//
//   - client-go: the leader has a Lease of Kubernetes; numbers are rows of a table in PostgreSQL
//   - client-go-unique: the same with a unique index on the numbers
//   - client-go-checked: as client-go; the leader looks at the age of its Lease before it writes
//   - lock: the leader has an advisory lock of PostgreSQL, with the same table
//   - lock-idle: the same; the server ends the session of a leader that is idle for four seconds
//   - lock-pgbouncer: as lock, through PgBouncer with a pool by session
//   - lock-transaction: the same with a pool by transaction, which does not support such locks
//   - understudy: an event-sourced singleton, with its journal in PostgreSQL
//
// The program starts PostgreSQL, PgBouncer and an API server of Kubernetes by itself. It skips an
// opponent for which the machine lacks one, and says what to install. The network is cut by network
// namespaces, which need Linux and root; without them that fault is skipped.
//
// docs/kill-the-leader.md has the result of a run, and says what each opponent is set to; -page
// writes it. -quick is one SIGKILL each for two opponents, half a minute.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// nodeVariable is the environment variable that makes the program run as a node.
const nodeVariable = "KILLTHELEADER_NODE"

func main() {
	ctx := context.Background()
	if text := os.Getenv(nodeVariable); text != "" {
		exit(runNode(ctx, text))
	}
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer cancel()
	exit(run(ctx, parse()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "killtheleader:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run lets all opponents play, one after the other, and reports.
func run(ctx context.Context, s settings) error {
	if err := s.validate(); err != nil {
		return err
	}
	r := report{settings: s, began: time.Now()}
	stage, err := newStage(ctx, s)
	if err != nil {
		return err
	}
	defer stage.close()
	show := newLive(os.Stdout)
	if stage.network == nil {
		show.text("fault cut: skipped: %v", stage.noNetwork)
	}
	for _, o := range s.opponents() {
		t, err := stage.play(ctx, o, show)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			return err
		}
		r.trials = append(r.trials, t)
	}
	return r.write(os.Stdout)
}
