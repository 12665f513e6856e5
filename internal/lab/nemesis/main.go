//go:build linux

// Command nemesis torments real nodes, and holds what comes of it against what is
// promised.
//
//	go -C internal/lab/nemesis run . -time 10m -nodes 5 -seed 1
//
// It starts processes of itself as nodes of one cluster, each in a network namespace of
// its own, linked by veth pairs to a bridge in another. Clients write entries into an
// event-sourced singleton and read from it, through random nodes and over sockets that
// no cut reaches. Meanwhile, by a schedule drawn from the seed, the network is cut, in
// both directions or in one, is slow, loses packets, or lets only TCP or only UDP through; processes are stopped with SIGSTOP
// and continued, killed with SIGKILL and started again, all of them at once too, or leave
// in good order. After most rounds everything is mended, and the cluster must settle:
// one cluster, the same view everywhere, one instance of each singleton, and writes that
// are acknowledged.
//
// Other clients, some at each node, read, write and swap registers in a second event-sourced
// singleton. It writes an event for every operation, reads included, before it answers, so
// that an instance that has been replaced and does not know it answers nothing. What the
// clients saw and when must be linearizable, which porcupine decides; of an operation that
// was not answered nobody knows when it was done, and the journal says whether. A register
// whose history is not linearizable is drawn into a file.
//
// In the end all entries that were acknowledged must be in the journal exactly once, in
// an order that does not contradict time, and nothing else but what was sent; epochs never
// fall; generations of instances only grow. A second singleton, which fences nothing,
// says all the time that it runs: two of them must not, not even when a cluster that was
// well is cut in two. They may for a while after one of their processes was stopped, and
// when the network is bad in other ways or something else happens while it is cut: such
// times are reported.
//
// A third one holds a lease, of a store that is at a place of the network, too: partitions
// cut nodes off from it, at times nobody reaches it, and at times the lease is stolen. It
// fences nothing either. Tokens must grow, and no instance may do anything once the next one
// has begun, whatever happens; but for one message that it was in the midst of when its
// process was stopped.
//
// One in three rounds is a fault that hits the host and nothing else: a kill, a pause, a
// partition or a leave, in turn. How long it took until another instance answered is printed
// beside what follows from the settings.
//
// It needs root, the programs ip, tc (iproute2) and nft (nftables), and a kernel that
// lets it have namespaces; where it cannot run it says why, and ends with status 0. A
// fault that the kernel cannot do is left out, and named. The exit status is 1 when
// something was violated; then the logs of the nodes are kept.
//
// With an even seed the nodes have a secret, so that all they say is encrypted and they
// know each other by it; with an odd one they talk in the clear.
//
// The seed replays the schedule. Everything else has its own timing, so that the outcome
// may be another.
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
	keep := flag.Bool("keep", false, "keep the logs of the nodes and the journal, also when nothing was violated")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, options{span: *span, nodes: *nodes, seed: *seed, settle: *settle, keep: *keep}))
}

// options are what the flags say, and what follows from them.
type options struct {
	span   time.Duration
	nodes  int
	spare  int // places of the network without a node
	seed   uint64
	settle time.Duration
	keep   bool
	secret []byte // of the nodes; nil when they talk in the clear
}

// run returns the exit status.
func run(ctx context.Context, o options) int {
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
	rounds := plan(o.seed, o.nodes, h.can)
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
