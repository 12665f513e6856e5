// Package reminders is the program of examples/reminders. Module persistence/postgres runs it as
// well, so that the examples do not need its client library.
package reminders

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

// settings are the values of the flags, which the program sets itself for its nodes.
type settings struct {
	node, bind, http string
	seeds            []string
	recipient        string          // URL to which reminders are delivered
	journal          string          // a URL or a path; "" is an SQLite database that is removed afterwards
	open             journals.Opener // of the journal
	run              string          // begins the ids of all customers, so that runs can share a journal
}

// Main is the program. It reads the flags, and runs until the story ends or the process is
// interrupted. It exits with status 1 if the story fails. openers open journals at URLs.
func Main(openers journals.Openers) {
	var s settings
	flag.StringVar(&s.journal, "journal", "",
		"path of an SQLite database, or URL of another journal; what is there stays (default: SQLite in a temporary directory)")
	flag.StringVar(&s.node, "node", "", "run as the node of this name (used by the program itself)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.http, "http", "", "address at which the node takes requests")
	flag.StringVar(&s.recipient, "recipient", "", "URL to which the node delivers reminders")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.seeds, s.run = strings.Split(*seeds, ","), "customer-"+rand.Text()[:6]

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, s, openers); err != nil {
		fmt.Fprintln(os.Stderr, "reminders:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, openers journals.Openers) (err error) {
	if s.open, err = openers.Of(s.journal, "reminders"); err != nil {
		return err
	}
	if s.node != "" {
		return serve(ctx, s)
	}
	return direct(ctx, s)
}
