package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// nodeCount is the number of nodes of each opponent.
const nodeCount = 3

// nodeConfig is what a node process needs to know.
type nodeConfig struct {
	Name     string // n1, n2, n3
	Opponent string
	Listen   string // address of its HTTP server
	Bind     string // address for its peers
	Seeds    []string
	Postgres string // URL
	Kube     kubeAccess

	// Strict makes a leader by Lease also look at the age of the lease before each write, and ends
	// the session of a lock that its leader does not use for four seconds.
	Strict bool
}

// leaveLimit bounds how long a node may take to leave.
const leaveLimit = 30 * time.Second

// runNode is a node process: an HTTP server in front of a ledger. SIGTERM ends it in good order.
func runNode(ctx context.Context, text string) error {
	var cfg nodeConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	start, ok := starters[cfg.Opponent]
	if !ok {
		return fmt.Errorf("this program has no opponent %q", cfg.Opponent)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(process.UntilEOF(), cancel)
	book, err := start(ctx, cfg)
	if err != nil {
		return err
	}
	return serve(ctx, cfg.Listen, book)
}

// serve answers requests until SIGTERM. It goes on to answer while the ledger leaves.
func serve(ctx context.Context, listen string, book ledger) error {
	term, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: listen, Handler: handler(book), ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-term.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
	defer cancel()
	return errors.Join(book.leave(limited), server.Close())
}

func handler(book ledger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /next", func(w http.ResponseWriter, r *http.Request) {
		n, err := book.next(r.Context(), r.FormValue("request"))
		switch {
		case errors.Is(err, errNotLeader):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
		default:
			_ = json.NewEncoder(w).Encode(n) // the client may have gone
		}
	})
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if !book.ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	return mux
}
