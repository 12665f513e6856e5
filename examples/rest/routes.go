package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/actor"
)

// patience is how long a request waits for the fund.
const patience = time.Second

// routes serves POST /payments and GET /balance. failover is how long clients are told to wait
// while the fund has no instance.
func routes(fund actor.ActorRef[FundMsg], failover time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /payments", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Cents uint16 }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1000)).Decode(&body); err != nil || body.Cents == 0 {
			http.Error(w, `a payment is {"cents": n}, n from 1 to 65535`, http.StatusBadRequest)
			return
		}
		key := r.Header.Get("Idempotency-Key")
		if key == "" || len(key) > 100 || !utf8.ValidString(key) {
			http.Error(w, "a payment has an Idempotency-Key of at most 100 bytes of UTF-8", http.StatusBadRequest)
			return
		}
		payment, err := ask(r, fund, func(replyTo actor.ActorRef[actor.Result[Payment]]) FundMsg {
			return Pay{Key: key, Cents: int(body.Cents), ReplyTo: replyTo}
		})
		if err == nil && payment.Cents != int(body.Cents) { // the reply to the first payment with that key
			err = errOtherUse
		}
		answer(w, http.StatusCreated, payment, err, failover)
	})
	mux.HandleFunc("GET /balance", func(w http.ResponseWriter, r *http.Request) {
		left, err := ask(r, fund, func(replyTo actor.ActorRef[actor.Result[int]]) FundMsg {
			return Balance{ReplyTo: replyTo}
		})
		answer(w, http.StatusOK, left, err, failover)
	})
	return mux
}

// ask asks the fund. The ask ends when the client goes away.
func ask[R any](r *http.Request, fund actor.ActorRef[FundMsg], request func(actor.ActorRef[actor.Result[R]]) FundMsg) (R, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return actor.AskResult(ctx, fund, request)
}

// answer writes the reply of the fund, or the error of the ask.
func answer(w http.ResponseWriter, success int, reply any, err error, failover time.Duration) {
	if err != nil {
		refuse(w, err, failover)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(success)
	_ = json.NewEncoder(w).Encode(reply) // the client may have gone
}
