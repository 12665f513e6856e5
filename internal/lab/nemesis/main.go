//go:build linux

// Command nemesis injects faults into a cluster of real processes, and checks that our guarantees
// hold.
//
//	go -C internal/lab/nemesis run . -time 10m -nodes 5 -seed 1
//
// It starts copies of itself as the nodes of one cluster. Each has its own network namespace,
// linked by a veth pair to a bridge in another namespace. Clients write entries into an
// event-sourced singleton and read from it, through random nodes and over sockets that no partition
// affects.
//
// Meanwhile it injects faults by a schedule drawn from the seed:
//
//   - The network is cut in both directions or in one, is slow, loses packets, or lets only TCP or
//     only UDP through.
//   - Processes are stopped with SIGSTOP and continued, killed with SIGKILL and started again (at
//     times all at once), or leave gracefully.
//
// After most rounds everything is repaired, and the cluster must settle: one cluster, the same view
// everywhere, one instance of each singleton, and writes that are acknowledged.
//
// # Checks
//
// Other clients, some at each node, read, write and swap registers in a second event-sourced
// singleton. It writes an event for every operation, reads included, before it answers, so that a
// replaced instance that does not know it answers nothing. The history that the clients saw must be
// linearizable, which porcupine checks. The journal says whether an operation without an answer
// took effect, but not when. A register whose history is not linearizable is drawn into a file.
//
// In the end each acknowledged entry must be in the journal exactly once, in an order that does not
// contradict time, and the journal must contain only entries that were sent. Epochs never fall, and
// generations of instances only grow. Generations begin again only in a new cluster that was formed
// after every process of the old one had ended or downed itself.
//
// More clients at each node append to lists and read them. Each list is an entity of a sharded
// type, event-sourced in the same journal, and ends when it is idle for a few seconds; some of the
// lists are used often. Reads are events, too. The history of each list must be linearizable, in
// the order of its journal, and no entry may be there twice, at another place, or from another
// generation of the shard than acknowledged it. In the end, each list must answer within a limit.
//
// Clients at each node also begin runs of a workflow, signal and cancel them, and ask for their
// results; a request without an answer is sent again. A run has several steps, some of them at the
// same time. It sleeps, awaits signals, and is compensated if it fails or is cancelled. Each
// process writes down each execution of a step when it begins. Steps call a receiver in the process
// of the harness, which knows a repetition by its key, and a replaced process by its token.
//
//   - A step with a stored outcome never runs again, except in a process that was replaced and may
//     not know it. The token of an execution is the epoch of its incarnation. The journal has the
//     epoch of the outcome, so tokens say which process was replaced, and no clock is needed.
//   - The receiver does nothing twice, and nothing for a process that was replaced.
//   - Each outcome is stored once, by the incarnation that has executed the step, or by a later one
//     of its process if that failed. The function of the run, its result and each client have got
//     that outcome.
//   - Each acknowledged signal is stored once, and awaits get signals in order.
//   - All effects of a run that fails or is cancelled are undone after them, the last stage first,
//     and none of a run that is done.
//   - In the end, each run must answer with its result within a limit.
//
// Another singleton, which is not fenced, reports all the time that it runs. Two instances of it
// must not overlap, even when a healthy cluster is cut in two. An overlap is allowed, and reported,
// after a process of an instance was stopped, when the network is bad in other ways, and when
// another fault happens during a cut.
//
// A third one holds a lease from a store on the same network, and is not fenced either. Partitions
// cut nodes off from the store, at times no node reaches it, and at times the lease is stolen.
// Tokens must grow, and no instance may act once the next one has begun, whatever happens. The one
// exception is the message that an instance was handling when its process was stopped.
//
// One in three rounds is a fault that hits only the host: a kill, a pause, a partition or a leave,
// in turn. The time until another instance answered is printed beside the bound that follows from
// the settings.
//
// # Requirements
//
// It needs root, the programs ip, tc (iproute2) and nft (nftables), and a kernel that allows
// namespaces. Where it cannot run it says why, and ends with status 0. A fault that the kernel does
// not support is left out, and named. The exit status is 1 when a check failed; the logs of the
// nodes are then kept.
//
// With -other, a node that is started again may be another version of this program, so that both
// versions are in the cluster. Add -workflows=0 if that version knows no workflows.
//
// With an even seed the nodes have a shared secret, which encrypts and authenticates all traffic;
// with an odd seed they communicate in the clear.
//
// The seed replays the schedule, but not the timing of anything else, so the outcome may differ.
package main

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if beNode() {
		return
	}
	span := flag.Duration("time", time.Minute, "how long to torment")
	nodes := flag.Int("nodes", 5, "how many nodes, from 3 to 9")
	seed := flag.Uint64("seed", 0, "draws the schedule; 0 draws the seed")
	settle := flag.Duration("settle", time.Minute, "how long the cluster may take to settle")
	lists := flag.Int("lists", 2000, "how many entities of a sharded type clients visit; 0 for none")
	workflows := flag.Int("workflows", 1000, "how many runs of workflows clients begin at most; 0 for none")
	other := flag.String("other", "", "this program, built from another commit: nodes change between the two")
	keep := flag.Bool("keep", false, "keep the logs of the nodes and the journal, also when nothing was violated")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, options{span: *span, nodes: *nodes, seed: *seed, settle: *settle, lists: *lists, workflows: *workflows, keep: *keep, other: *other}))
}

// options are the values of the flags, and values that follow from them.
type options struct {
	span  time.Duration
	nodes int
	spare int // places of the network without a node
	lists int // entities; 0 for no sharded type
	seed  uint64

	workflows int // runs; 0 for none

	listsAnswer time.Duration // how long a list may take to answer in the end; 0 for the default
	settle      time.Duration
	keep        bool
	secret      []byte // of the nodes; nil when they talk in the clear

	other    string   // another version of this program; "" for none
	programs []string // with which the nodes begin; nil for this one
}

// run returns the exit status.
func run(ctx context.Context, o options) int {
	if o.lists < 0 {
		fmt.Fprintln(os.Stderr, "nemesis: -lists must not be negative")
		return 2
	}
	if o.workflows < 0 {
		fmt.Fprintln(os.Stderr, "nemesis: -workflows must not be negative")
		return 2
	}
	if o.nodes < 3 || o.nodes > 9 {
		fmt.Fprintln(os.Stderr, "nemesis: -nodes must be from 3 to 9")
		return 2
	}
	if err := possible(); err != nil {
		fmt.Printf("nemesis: skipped: %v\n", err)
		return 0
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>40 + 1
	}
	if o.seed%2 == 0 {
		o.secret = newSecret()
	}
	h, err := newHarness(os.Stdout, o) //nolint:contextcheck // to listen takes no time
	if err != nil {
		fmt.Fprintln(os.Stderr, "nemesis:", err)
		return 1
	}
	h.show.text("seed %d: make nemesis TIME=%v NODES=%d SEED=%d", o.seed, o.span, o.nodes, o.seed)
	if o.secret != nil {
		h.show.text("nodes have a secret, as the seed is even")
	} else {
		h.show.text("nodes talk in the clear, as the seed is odd")
	}
	rounds := plan(o.seed, o.nodes, h.can, o.other != "")
	switch err := h.torment(ctx, until(clock()+o.span, rounds)); {
	case errors.Is(err, errViolated):
		return 1
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "nemesis: interrupted")
		return 1
	case err != nil:
		fmt.Fprintln(os.Stderr, "nemesis:", err)
		return 1
	}
	return 0
}

// newSecret returns one for all nodes.
func newSecret() []byte {
	secret := make([]byte, 32)
	_, _ = cryptorand.Read(secret) // it never fails
	return secret
}

// until yields rounds until a time.
func until(end time.Duration, rounds func() Round) func(func(Round) bool) {
	return func(yield func(Round) bool) {
		for clock() < end && yield(rounds()) {
		}
	}
}
