package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

func TestEachErrorHasAStatus(t *testing.T) {
	failover := cluster.Config{}.Expected().FailoverFenced
	for _, c := range []struct {
		errs       []error // which one error wraps
		status     int
		retryAfter time.Duration
	}{
		{[]error{errTooLittle}, http.StatusConflict, 0},
		{[]error{errOtherUse}, http.StatusUnprocessableEntity, 0},
		{[]error{actor.ErrOverloaded}, http.StatusServiceUnavailable, time.Second},
		{[]error{actor.ErrMailboxFull}, http.StatusServiceUnavailable, time.Second},
		{[]error{context.DeadlineExceeded, actor.ErrWithdrawn}, http.StatusServiceUnavailable, time.Second},
		{[]error{context.DeadlineExceeded, singleton.ErrUnavailable}, http.StatusServiceUnavailable, failover},
		{[]error{context.DeadlineExceeded, actor.ErrWithdrawn, singleton.ErrUnavailable}, http.StatusServiceUnavailable, failover},
		{[]error{singleton.ErrBufferFull}, http.StatusServiceUnavailable, failover},
		{[]error{actor.ErrUnreachable}, http.StatusServiceUnavailable, failover},
		{[]error{context.DeadlineExceeded}, http.StatusGatewayTimeout, 0},
		{[]error{actor.ErrTerminated}, http.StatusGatewayTimeout, 0},
		{[]error{actor.ErrNotSerializable}, http.StatusInternalServerError, 0},
	} {
		status, retryAfter := statusOf(fmt.Errorf("ask: %w", errors.Join(c.errs...)), failover)
		require.Equal(t, c.status, status, c.errs)
		require.Equal(t, c.retryAfter, retryAfter, c.errs)
	}
}
