// Package patient repeats requests that no server has answered, as when a stream has no leader.
package patient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Election is how long the election of a leader may take before its stream counts as unavailable.
// After a crash three idle servers take 4 to 9 s.
const Election = 30 * time.Second

const (
	firstAnswer = time.Second // doubled with each repetition, because the servers may just be slow
	lastAnswer  = 5 * time.Second
	pause       = 100 * time.Millisecond
)

// Ask calls f until a server answers, for [Election] at most. f must be repeatable and observe its
// context. A leader that steps down does not answer the requests that it has received, and no
// other server ever will. Ask does not repeat a request that a server has refused to pass on.
func Ask[T any](ctx context.Context, nc *nats.Conn, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Election, fmt.Errorf("no server has answered for %v: see whether the stream has a leader", Election))
	defer cancel()
	before := refusal(nc) // of another request
	for patience := firstAnswer; ; patience = min(2*patience, lastAnswer) {
		wait, stop := context.WithTimeout(ctx, patience)
		answer, err := f(wait)
		silent := wait.Err() != nil
		stop()
		if err == nil || !silent && !leaderless(err) || !errors.Is(refusal(nc), before) {
			return answer, WithRefusal(nc, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return answer, WithRefusal(nc, because(context.Cause(ctx), err))
		}
	}
}

// because leaves out a cause that err already names.
func because(cause, err error) error {
	if errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func leaderless(err error) bool {
	var answer *jetstream.APIError
	return errors.As(err, &answer) && answer.Code == http.StatusServiceUnavailable &&
		answer.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled && answer.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
}

// WithRefusal adds to err, unless it is nil, why servers have not passed on a request for lack of a
// permission. Servers send that to the connection and leave the request without an answer.
func WithRefusal(nc *nats.Conn, err error) error {
	if last := refusal(nc); err != nil && last != nil {
		return fmt.Errorf("%w; the last thing the server has said: %w", err, last)
	}
	return err
}

func refusal(nc *nats.Conn) error {
	if last := nc.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
		return last
	}
	return nil
}
