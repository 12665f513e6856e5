package patient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

var errDone = errors.New("refused for good")

// silent answers nothing to its first requests.
func silent(n int, then error) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if n--; n >= 0 {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "answer", then
	}
}

func TestALostRequestIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		answer, err := Ask(t.Context(), new(nats.Conn), silent(3, nil))
		require.NoError(t, err)
		require.Equal(t, "answer", answer)
		require.Equal(t, (1+2+4)*time.Second+3*pause, time.Since(begun))

		begun = time.Now()
		_, err = Ask(t.Context(), new(nats.Conn), silent(1, errDone))
		require.Equal(t, errDone, err)
		require.Equal(t, time.Second+pause, time.Since(begun))
	})
}

func TestAStreamWithoutALeaderIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		_, err := Ask(t.Context(), new(nats.Conn), func(context.Context) (any, error) {
			if asked++; asked < 5 {
				return nil, &jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "temporarily unavailable"}
			}
			return nil, nil
		})
		require.NoError(t, err)

		begun := time.Now()
		_, err = Ask(t.Context(), new(nats.Conn), func(context.Context) (any, error) {
			return nil, &jetstream.APIError{Code: 503, ErrorCode: jetstream.JSErrCodeJetStreamNotEnabled}
		})
		require.Error(t, err)
		require.Equal(t, begun, time.Now(), "servers without JetStream never elect")
	})
}

func TestAskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := Ask(t.Context(), new(nats.Conn), silent(100, nil))
		require.ErrorContains(t, err, "no server has answered for 30s: see whether the stream has a leader")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, Election, time.Since(begun))

		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		begun = time.Now()
		_, err = Ask(ctx, new(nats.Conn), silent(100, nil))
		require.Equal(t, context.DeadlineExceeded, err)
		require.Equal(t, 1500*time.Millisecond, time.Since(begun))
	})
}
