package carts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/process"
)

// serve is one of the three processes: a member of the cluster that hosts carts, and a server that
// brings requests to any cart, wherever that is.
func serve(ctx context.Context, s settings) error {
	journal, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer journal.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Journal: journal, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	carts, err := sharding.Start(node, "cart", cart(journal))
	if err != nil {
		return err
	}
	server := &http.Server{Addr: s.http, Handler: handler(carts), ReadHeaderTimeout: time.Second}
	go func() {
		<-process.UntilEOF().Done()
		_ = server.Close() // the shop closes
	}()
	fmt.Println("open")
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return node.Shutdown(ctx)
}

// handler serves POST /carts/{id}/items/{item} and GET /carts/{id}.
func handler(carts *sharding.Region[CartMsg]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /carts/{id}/items/{item}", func(w http.ResponseWriter, r *http.Request) {
		ask(w, r, carts, func(to actor.ActorRef[bool]) CartMsg { return Add{Item: r.PathValue("item"), ReplyTo: to} })
	})
	mux.HandleFunc("GET /carts/{id}", func(w http.ResponseWriter, r *http.Request) {
		ask(w, r, carts, func(to actor.ActorRef[[]string]) CartMsg { return List{ReplyTo: to} })
	})
	return mux
}

// patience is how long a request waits for its cart.
const patience = 2 * time.Second

// ask asks the cart of a request, and answers with the reply.
func ask[R any](w http.ResponseWriter, r *http.Request, carts *sharding.Region[CartMsg], request func(actor.ActorRef[R]) CartMsg) {
	id := r.PathValue("id")
	if err := sharding.ValidateID(id); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply, err := actor.AskTimeout(r.Context(), carts.Ref(id), patience, request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply) // the customer may have gone
}
