package orders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// serve is one of the three processes: a member of the cluster that hosts runs, and a server that
// brings requests to any run, wherever that is.
func serve(ctx context.Context, s settings) error {
	journal, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer journal.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "orders", NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Journal: journal, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	steps := newClient()
	steps.Transport = outside.Transport{Base: steps.Transport}
	shop := &shop{services: services{url: s.services, node: s.node, client: steps}, version: s.version}
	orders, err := workflow.Start(node, "order", shop.fulfil)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: s.http, Handler: handler(orders), ReadHeaderTimeout: time.Second}
	go func() {
		<-process.UntilEOF().Done()
		_ = server.Close() // the node shall leave
	}()
	fmt.Println("open")
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, unanswered)
	defer cancel()
	return node.Leave(ctx)
}

// An outcome is how an order has ended, as customers hear it.
type outcome struct {
	End     string // shipped, declined, refused or cancelled
	Receipt Receipt
}

// handler serves PUT, GET and DELETE /orders/{id}, and POST /orders/{id}/approval.
func handler(orders *workflow.Type[Order, Receipt]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /orders/{id}", answer(func(ctx context.Context, r *http.Request) (bool, error) {
		var o Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return false, err
		}
		_, err := orders.Run(ctx, r.PathValue("id"), o)
		return true, err
	}))
	mux.HandleFunc("POST /orders/{id}/approval", answer(func(ctx context.Context, r *http.Request) (bool, error) {
		var a Approval
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			return false, err
		}
		return inTime(workflow.Signal(ctx, orders, r.PathValue("id"), "approval", a))
	}))
	mux.HandleFunc("DELETE /orders/{id}", answer(func(ctx context.Context, r *http.Request) (bool, error) {
		return inTime(orders.Cancel(ctx, r.PathValue("id"), workflow.By{Who: "the customer", Why: "ordered by mistake"}))
	}))
	mux.HandleFunc("GET /orders/{id}", answer(func(ctx context.Context, r *http.Request) (outcome, error) {
		return outcomeOf(orders.Handle(r.PathValue("id")).Result(ctx))
	}))
	return mux
}

// inTime answers false if a run has ended before it could be told something.
func inTime(err error) (bool, error) {
	if errors.Is(err, workflow.ErrEnded) {
		return false, nil
	}
	return err == nil, err
}

func outcomeOf(r Receipt, err error) (outcome, error) {
	switch {
	case err == nil:
		return outcome{End: shipped, Receipt: r}, nil
	case errors.Is(err, errDeclined):
		return outcome{End: declined}, nil
	case errors.Is(err, errRefused):
		return outcome{End: refused}, nil
	case errors.Is(err, workflow.ErrCancelled):
		return outcome{End: cancelled}, nil
	case errors.Is(err, workflow.ErrNotFound):
		return outcome{End: unknown}, nil
	}
	return outcome{}, err
}

// patience is how long a request waits for its run.
const patience = 2 * time.Second

// answer answers requests with what f returns.
func answer[T any](f func(ctx context.Context, r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		reply, err := f(ctx, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply) // the customer may have gone
	}
}
