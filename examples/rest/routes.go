package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// patience is how long a request waits for the actor.
const patience = 2 * time.Second

// routes serves GET /stock/{goods} and POST /stock/{goods}/reservations.
func routes(stock actor.ActorRef[StockMsg]) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stock/{goods}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, stock, http.StatusOK, func(replyTo actor.ActorRef[actor.Result[int]]) StockMsg {
			return Count{Goods: r.PathValue("goods"), ReplyTo: replyTo}
		})
	})
	mux.HandleFunc("POST /stock/{goods}/reservations", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Count uint16 }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1000)).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, r, stock, http.StatusCreated, func(replyTo actor.ActorRef[actor.Result[int]]) StockMsg {
			return Reserve{Goods: r.PathValue("goods"), Count: int(body.Count), ReplyTo: replyTo}
		})
	})
	return mux
}

// answer asks the stock, and writes its reply. The context of the request ends the ask when the
// customer goes away.
func answer(w http.ResponseWriter, r *http.Request, stock actor.ActorRef[StockMsg], success int,
	request func(actor.ActorRef[actor.Result[int]]) StockMsg,
) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	left, err := actor.AskResult(ctx, stock, request)
	switch {
	case errors.Is(err, errUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case errors.Is(err, errTooFew):
		http.Error(w, err.Error(), http.StatusConflict)
		return
	case err != nil: // no reply: the actor was too slow, or has ended
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(success)
	_ = json.NewEncoder(w).Encode(map[string]int{"left": left}) // the customer may have gone
}
