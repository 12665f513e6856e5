// Package orders is the program of examples/orders. Module internal/lab/postgres runs it as well,
// so that the examples do not need the client library of that journal.
package orders

import (
	"context"
	"crypto/rand"
	"errors"
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
	orders           int
	node, bind, http string
	seeds            []string
	services         string          // URL of the outside services
	version          int             // of the function of the runs
	journal          string          // a URL or a path; "" is an SQLite database that is removed afterwards
	open             journals.Opener // of the journal
	run              string          // begins the ids of all orders, so that runs can share a journal
}

// Main is the program. It reads the flags, and runs until the story ends or the process is
// interrupted. It exits with status 1 if the story fails. openers open journals at URLs.
func Main(openers journals.Openers) {
	var s settings
	flag.IntVar(&s.orders, "orders", 1000, "how many orders are placed")
	flag.StringVar(&s.journal, "journal", "",
		"path of an SQLite database, or URL of another journal; what is there stays (default: SQLite in a temporary directory)")
	flag.StringVar(&s.node, "node", "", "run as the node of this name (used by the program itself)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.http, "http", "", "address at which the node takes requests")
	flag.StringVar(&s.services, "services", "", "URL of the services that the node calls")
	flag.IntVar(&s.version, "version", 1, "version of the program that the node runs")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.seeds, s.run = strings.Split(*seeds, ","), "order-"+rand.Text()[:6]

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, s, openers); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, openers journals.Openers) (err error) {
	if s.orders < 1 {
		return errors.New("-orders must be at least 1")
	}
	if s.open, err = openers.Of(s.journal, "orders"); err != nil {
		return err
	}
	if s.node != "" {
		return serve(ctx, s)
	}
	return direct(ctx, s)
}
