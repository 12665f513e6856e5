// Package effects is a program that makes many effects outside of a cluster, by steps of package
// workflow, while faults strike. In the end it proves that each effect was made once, and none by a
// process that was replaced. make effects runs it.
package effects

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

// settings are the values of the flags, which the program sets itself for its other processes.
type settings struct {
	effects, atOnce   int
	seed              uint64
	spread            time.Duration // the time over which runs begin, at least
	shortest, longest time.Duration // of stops and cuts
	journal           string        // a URL or a path; "" is an SQLite database that is removed afterwards

	node, bind string // of a node
	seeds      []string
	sink       string          // URL to which a node sends its effects
	listen     string          // address of the sink
	ledger     string          // path of the database of the sink
	open       journals.Opener // of the journal
	run        string          // begins the ids of all runs, so that the journal can have others
}

// Main is the program. It reads the flags, and runs until all effects are made and checked, or the
// process is interrupted. It exits with status 1 if a check fails. openers open journals at URLs.
func Main(openers journals.Openers) {
	var s settings
	flag.IntVar(&s.effects, "effects", 1000, "how many effects are made")
	flag.IntVar(&s.atOnce, "at-once", 800, "how many runs there are at once")
	flag.Uint64Var(&s.seed, "seed", 0, "seed of the plan of the faults (default: random)")
	flag.DurationVar(&s.spread, "spread", time.Minute, "the time over which runs begin, if they are made faster")
	flag.DurationVar(&s.shortest, "shortest", 2*time.Second, "the shortest time for which a process is stopped or a node is cut off")
	flag.DurationVar(&s.longest, "longest", 30*time.Second, "the longest time for that")
	flag.StringVar(&s.journal, "journal", "",
		"path of an SQLite database, or URL of another journal; what is there stays (default: SQLite in a temporary directory)")
	flag.StringVar(&s.node, "node", "", "run as the node of this name (used by the program itself)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.sink, "sink", "", "URL to which the node sends its effects")
	flag.StringVar(&s.listen, "listen", "", "run as the sink at this address (used by the program itself)")
	flag.StringVar(&s.ledger, "ledger", "", "path of the database of the sink")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.seeds, s.run = strings.Split(*seeds, ","), rand.Text()[:6]
	if s.seed == 0 {
		s.seed = mathrand.Uint64()
	}

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := start(ctx, s, openers); err != nil {
		fmt.Fprintln(os.Stderr, "effects:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, s settings, openers journals.Openers) (err error) {
	if s.effects < 1 || s.atOnce < 1 || s.shortest <= 0 || s.longest < s.shortest || s.spread < 0 {
		return errors.New("-effects, -at-once and -shortest must be positive, -spread must not be negative, and -longest not less than -shortest")
	}
	if s.open, err = openers.Of(s.journal, "effects"); err != nil {
		return err
	}
	switch {
	case s.node != "":
		return serveNode(ctx, s)
	case s.listen != "":
		return serveSink(s)
	}
	return direct(ctx, s)
}
