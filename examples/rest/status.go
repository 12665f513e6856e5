package main

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton"
)

// statusOf returns the status for the error of an ask, and when the client should try again, or 0.
// failover is how long a failover takes at most. After a 504, and after a 503 in a failover, the
// client does not know whether its request was handled, so it tries again with the same key.
func statusOf(err error, failover time.Duration) (status int, retryAfter time.Duration) {
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(errTooLittle):
		return http.StatusConflict, 0
	case is(errOtherUse):
		return http.StatusUnprocessableEntity, 0
	case is(singleton.ErrUnavailable), is(actor.ErrUnreachable): // its host has crashed, or it moves
		return http.StatusServiceUnavailable, failover
	case is(actor.ErrOverloaded), is(actor.ErrMailboxFull), is(actor.ErrWithdrawn): // not handled
		return http.StatusServiceUnavailable, time.Second
	case is(context.DeadlineExceeded), is(actor.ErrTerminated): // perhaps handled
		return http.StatusGatewayTimeout, 0
	}
	return http.StatusInternalServerError, 0
}

// refuse answers a request whose ask has failed.
func refuse(w http.ResponseWriter, err error, failover time.Duration) {
	status, retryAfter := statusOf(err, failover)
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(retryAfter.Seconds()))))
	}
	http.Error(w, err.Error(), status)
}
