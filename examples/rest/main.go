// Command rest serves a fund over HTTP, from a cluster of nodes that share one journal. Each node
// answers each request by asking the fund, which one of them hosts.
//
//	go run ./examples/rest
//
// starts four processes of itself, and sends them three times as many payments as the fund can
// make. Then its host leaves, and the next one is killed. It prints what clients got, and checks
// that the journal has each acknowledged payment exactly once.
//
//	go run ./examples/rest -http 127.0.0.1:8080
//	curl -i -H 'Idempotency-Key: 1' -d '{"cents": 250}' http://127.0.0.1:8080/payments
//
// serves one node until it gets a signal. Begin with routes.go, status.go and fund.go; the load is
// in the other files.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// settings are the values of the flags.
type settings struct {
	http, journal string
	seconds       int           // of the load, in each phase
	write         time.Duration // what a write to the journal takes longer
	node          cluster.Config
}

func main() {
	s := settings{node: cluster.Config{Name: "fund"}}
	flag.StringVar(&s.http, "http", "", "address to serve at, instead of the load")
	flag.StringVar(&s.journal, "journal", "", "path of the SQLite database (default: a temporary one)")
	flag.StringVar(&s.node.NodeID, "node", "", "name of the node in the cluster (default: its address)")
	flag.StringVar(&s.node.Bind, "bind", "", "address of the node in the cluster (default: a free port)")
	seeds := flag.String("seeds", "", "addresses of all nodes, separated by commas (default: a cluster of one)")
	flag.DurationVar(&s.write, "write", 0, "how much longer each write to the journal takes, as if the database were far away")
	flag.IntVar(&s.seconds, "seconds", 5, "how long the load is high, in seconds")
	flag.Parse()
	if *seeds != "" {
		s.node.Seeds = strings.Split(*seeds, ",")
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "rest:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	dir, err := os.MkdirTemp("", "rest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.journal = cmp.Or(s.journal, dir+"/journal.db")
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if s.http == "" {
		return load(ctx, s)
	}
	return serve(ctx, s)
}

// serve is one node: a member of the cluster, and an HTTP server.
func serve(ctx context.Context, s settings) error {
	opened, err := sqlite.Open(s.journal)
	if err != nil {
		return err
	}
	defer opened.Close()
	var journal persistence.Journal = opened
	if s.write > 0 {
		journal = slow{opened, s.write}
	}
	listener, err := net.Listen("tcp", s.http) // a port that is taken is noticed before the node joins
	if err != nil {
		return err
	}
	node, err := cluster.Start(ctx, s.node)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", routes(actor.Spawn(node, fund(journal), "fund"), s.node.Expected().FailoverFenced))
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	node.OnShutdown(actor.ServiceUnbind, "http", server.Shutdown) // before the node leaves
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "rest:", err)
			_ = node.Leave(context.Background())
		}
	}()
	fmt.Println("serving at", "http://"+listener.Addr().String())
	return node.ShutdownOnSignal(ctx)
}
