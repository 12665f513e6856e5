package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
)

// routes serves PUT /orders/{order}/number, and the status page of the node at /cluster/.
func routes(node *cluster.Node, numbers actor.ActorRef[Request]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /orders/{order}/number", func(w http.ResponseWriter, r *http.Request) {
		number, err := actor.AskTimeout(r.Context(), numbers, 20*time.Second, func(to actor.ActorRef[int]) Request {
			return Request{Order: r.PathValue("order"), ReplyTo: to}
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, number)
	})
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
	return mux
}

// serve answers HTTP requests until the node shuts down.
func serve(node *cluster.Node, addr string, handler http.Handler) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	node.OnShutdown(actor.ServiceUnbind, "http", server.Shutdown)
	go server.Serve(listener)
	return nil
}
