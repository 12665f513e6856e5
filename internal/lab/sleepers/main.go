// Package sleepers is a program that lets many runs of a workflow sleep on three processes, and
// measures what they cost. Module internal/lab/postgres runs it, with both journals.
package sleepers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

// settings are the values of the flags, which the program sets itself for its nodes.
type settings struct {
	runs       int
	span       time.Duration // from the start until all wake
	kills      int           // of a node whose runs are in the middle of steps
	settle     time.Duration // before each
	journal    string        // a URL or a path; "" is an SQLite database that is removed afterwards
	open       journals.Opener
	node, bind string
	seeds      []string
	effects    string // the file in which a node notes the steps that it executes
	from, to   int    // runs that a node begins
	wake       time.Time
}

// Main is the program. It exits with status 1 if a run was lost, or more steps were repeated than
// the killed process can have had in work.
func Main(openers journals.Openers) {
	var s settings
	flag.IntVar(&s.runs, "runs", 1_000_000, "how many runs sleep")
	flag.DurationVar(&s.span, "span", 0, "from the start until all wake; 0: as long as 2000 begins a second take, and two minutes")
	flag.IntVar(&s.kills, "kills", 0, "how often a node is killed in the end whose runs are in the middle of steps")
	flag.DurationVar(&s.settle, "settle", 2*time.Minute, "before each kill, for shards to be balanced")
	flag.StringVar(&s.journal, "journal", "", "path of an SQLite database, or URL of another journal (default: SQLite in a temporary directory)")
	flag.StringVar(&s.node, "node", "", "run as the node of this name (used by the program itself, as the flags below)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.effects, "effects", "", "file for the steps that the node executes")
	flag.IntVar(&s.from, "from", 0, "first run that the node begins")
	flag.IntVar(&s.to, "to", 0, "first run that it does not begin")
	wake := flag.Int64("wake", 0, "when the runs wake, in milliseconds since 1970")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.seeds, s.wake = strings.Split(*seeds, ","), time.UnixMilli(*wake)

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, s, openers); err != nil {
		fmt.Fprintln(os.Stderr, "sleepers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, openers journals.Openers) (err error) {
	if s.runs < 3 || s.runs > 1<<30 {
		return errors.New("-runs must be from 3 to 2³⁰")
	}
	if s.open, err = openers.Of(s.journal, "sleepers"); err != nil {
		return err
	}
	if s.node != "" {
		return serve(ctx, s)
	}
	dir, err := os.MkdirTemp("", "sleepers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if s.journal == "" {
		s.journal = filepath.Join(dir, "journal.db")
	}
	if s.span == 0 {
		s.span = time.Duration(s.runs)*time.Second/2000 + 2*time.Minute
	}
	return newStory(s, dir).tell(ctx)
}
