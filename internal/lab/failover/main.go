// Package failover is the program of examples/failover. Module persistence/postgres runs it as
// well, so that the examples do not need its client library.
package failover

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

// settings are the values of the flags.
type settings struct {
	journal string          // a URL or a path; "" is an SQLite database that is removed afterwards
	id      string          // of the counter in the journal
	open    journals.Opener // of the journal
	pause   bool
	picture string // the file for an SVG image of what happened; none if empty

	node, bind string // "" unless the program runs as a node
	seeds      []string
}

// Main is the program. It reads the flags, and runs until the story ends or the process is
// interrupted. It exits with status 1 if the story fails. openers open journals at URLs, by scheme;
// a path is a SQLite journal and needs no opener.
func Main(openers journals.Openers) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Stdout, openers); err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, openers journals.Openers) (err error) {
	s := parse()
	if s.open, err = openers.Of(s.journal, "failover"); err != nil {
		return err
	}
	if s.node != "" {
		return runNode(ctx, s)
	}
	return direct(ctx, out, s)
}

func parse() settings {
	var s settings
	flag.StringVar(&s.journal, "journal", "",
		"path of an SQLite database, or URL of another journal; what is there stays (default: SQLite in a temporary directory)")
	flag.BoolVar(&s.pause, "pause", false, "stop the first host with SIGSTOP and continue it later, instead of killing it")
	flag.StringVar(&s.picture, "picture", "", "file for an SVG image: which node hosted when, and how many increments were acknowledged")
	flag.StringVar(&s.node, "node", "", "run as the node of this name (used by the program itself)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.id, "id", "", "persistence id of the counter (default: a new one)")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.id = cmp.Or(s.id, newID())
	s.seeds = strings.Split(*seeds, ",")
	return s
}

// newID returns an id for the counter of one run, so that runs can share a journal.
func newID() string {
	return "failover/" + time.Now().UTC().Format("2006-01-02T15:04:05Z") + "/" + rand.Text()[:6]
}

// direct runs the story, and removes all files except a journal of the user.
func direct(ctx context.Context, out io.Writer, s settings) error {
	d, err := newDirector(out, s)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.tryJournal(ctx); err != nil {
		return err
	}
	first := kill
	if s.pause {
		first = pause
	}
	err = d.tell(ctx, first)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		d.showLog()
		return err
	}
	return nil
}

// tryJournal opens the journal once, so that its errors are reported at once.
func (d *director) tryJournal(ctx context.Context) error {
	j, err := d.open(ctx, d.journal)
	if err != nil {
		return err
	}
	return j.Close()
}

// showLog prints the log of the nodes.
func (d *director) showLog() {
	text, err := os.ReadFile(d.log.Name())
	if err == nil && len(text) > 0 {
		fmt.Fprintf(os.Stderr, "--- the nodes said:\n%s---\n", text)
	}
}
