package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// leasedName is the name of the singleton that holds a lease, and of that lease.
const leasedName = "leased"

const (
	// leaseTTL is how long that lease lasts, and leaseSlack how much earlier its holder ends.
	leaseTTL   = 5 * time.Second
	leaseSlack = leaseTTL / 10

	// leaseRetry is how often it is asked for.
	leaseRetry = time.Second
)

// leaseHandler serves a store to [leaseClient]s.
func leaseHandler(store lease.Store) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /take", leaseRequest(store.Take))
	mux.Handle("POST /renew", leaseRequest(store.Renew))
	mux.Handle("POST /release", leaseRequest(func(ctx context.Context, g lease.Grant) (lease.Grant, error) {
		return lease.Grant{}, store.Release(ctx, g)
	}))
	return mux
}

func leaseRequest[T any](do func(context.Context, T) (lease.Grant, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request T
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		switch grant, err := do(r.Context(), request); {
		case errors.Is(err, lease.ErrHeld):
			http.Error(w, err.Error(), http.StatusConflict)
		case errors.Is(err, lease.ErrLost):
			http.Error(w, err.Error(), http.StatusGone)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			_ = json.NewEncoder(w).Encode(grant) // the client may have gone
		}
	}
}

// A leaseClient is the store that a [leaseHandler] serves at an address.
type leaseClient struct{ address string }

func (c leaseClient) Take(ctx context.Context, claim lease.Claim) (lease.Grant, error) {
	return c.request(ctx, "take", claim)
}

func (c leaseClient) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	return c.request(ctx, "renew", g)
}

func (c leaseClient) Release(ctx context.Context, g lease.Grant) error {
	_, err := c.request(ctx, "release", g)
	return err
}

func (c leaseClient) request(ctx context.Context, what string, of any) (grant lease.Grant, err error) {
	text, err := json.Marshal(of)
	if err != nil {
		return lease.Grant{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+"/"+what, bytes.NewReader(text))
	if err != nil {
		return lease.Grant{}, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return lease.Grant{}, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		err = json.NewDecoder(answer.Body).Decode(&grant)
		return grant, err
	case http.StatusConflict:
		return lease.Grant{}, lease.ErrHeld
	case http.StatusGone:
		return lease.Grant{}, lease.ErrLost
	}
	why, _ := io.ReadAll(io.LimitReader(answer.Body, 1000)) // the status says enough
	return lease.Grant{}, fmt.Errorf("%s: %s: %s", what, answer.Status, bytes.TrimSpace(why))
}
