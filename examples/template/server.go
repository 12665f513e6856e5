package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
)

// routes serves the orders, and the status page of the node at /cluster/.
func routes(node *cluster.Node, numbers actor.ActorRef[Request]) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("PUT /orders/{order}/number", orders(numbers))
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
	return mux
}

// orders asks for the number of an order. What it passes on is small and can be stored.
func orders(numbers actor.ActorRef[Request]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		order := r.PathValue("order")
		if !utf8.ValidString(order) || len(order) > 100 {
			http.Error(w, "an order is at most 100 bytes of UTF-8", http.StatusBadRequest)
			return
		}
		number, err := actor.AskTimeout(r.Context(), numbers, 20*time.Second, func(replyTo actor.ActorRef[int]) Request {
			return Request{Order: order, ReplyTo: replyTo}
		})
		if err != nil {
			log.Print(err)
			http.Error(w, "there is no number now; try again", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, number)
	}
}

// serve answers HTTP requests until the node shuts down. If it cannot, the node leaves.
func serve(node *cluster.Node, listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	node.OnShutdown(actor.ServiceUnbind, "http", server.Shutdown)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Print(err)
			_ = node.Leave(context.Background())
		}
	}()
}
