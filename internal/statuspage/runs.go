package statuspage

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// runsPatience is how long an answer about runs may take.
const runsPatience = 10 * time.Second

// listedRuns is how many runs are listed unless the request says otherwise, and at most.
const (
	listedRuns     = 100
	mostListedRuns = 10_000
)

// runs answers GET /runs: all of a type, or one with its id.
func runs(of func() status.Runs) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		all, q := of(), r.URL.Query()
		switch {
		case all == nil:
			http.Error(w, "this node has started no workflow", http.StatusConflict)
			return
		case q.Get("type") == "":
			http.Error(w, "name the type of the runs: ?type=NAME, and &id=ID for one", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), runsPatience)
		defer cancel()
		var answered any
		var err error
		if id := q.Get("id"); id != "" {
			answered, err = all.Look(ctx, q.Get("type"), id)
		} else {
			limit, _ := strconv.Atoi(q.Get("limit")) // the default for what is no number
			if limit <= 0 {
				limit = listedRuns
			}
			answered, err = all.List(ctx, q.Get("type"), status.RunFilter{State: q.Get("state"), Tag: q.Get("tag"), Limit: min(limit, mostListedRuns)})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		answer(w, answered)
	}
}

// steer answers POST /actions/run.
func (a *Actions) steer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("type") == "" || q.Get("id") == "" || q.Get("do") == "" {
		http.Error(w, "name the run and what shall be done: ?type=NAME&id=ID&do=cancel, fail, retry or resume", http.StatusBadRequest)
		return
	}
	all := a.Runs()
	if all == nil {
		http.Error(w, "this node has started no workflow", http.StatusConflict)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), runsPatience)
	defer cancel()
	by := status.Steering{Do: q.Get("do"), Step: q.Get("step"), Who: q.Get("who"), Why: q.Get("why")}
	if err := all.Steer(ctx, q.Get("type"), q.Get("id"), by); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
