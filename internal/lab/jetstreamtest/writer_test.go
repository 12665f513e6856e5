package jetstreamtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

const everything = 1<<64 - 1

// A writer owns an id.
type writer struct {
	j     journal.Journal
	id    string
	epoch uint64
	last  uint64
}

func claim(t testing.TB, j journal.Journal, id string) *writer {
	t.Helper()
	c, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	return &writer{j: j, id: id, epoch: c.Epoch, last: c.LastSeq}
}

func (w *writer) request(payloads ...string) journal.AppendRequest {
	req := journal.AppendRequest{ID: w.id, Epoch: w.epoch, Prev: w.last}
	for i, p := range payloads {
		req.Records = append(req.Records, journal.Record{Seq: w.last + uint64(i) + 1, Epoch: w.epoch, Type: "event", Payload: []byte(p)})
	}
	return req
}

func (w *writer) try(ctx context.Context, req journal.AppendRequest) error {
	err := w.j.Append(ctx, []journal.AppendRequest{req})[0]
	if err == nil {
		w.last = req.Prev + uint64(len(req.Records))
	}
	return err
}

func (w *writer) append(t testing.TB, payloads ...string) {
	t.Helper()
	require.NoError(t, w.try(t.Context(), w.request(payloads...)))
}

// persist sends the same request until it has a definite answer, as the behavior does.
func (w *writer) persist(ctx context.Context, payload string) error {
	req := w.request(payload)
	for {
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := w.try(call, req)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, journal.ErrUnknown) && !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
	}
}

func read(t testing.TB, j journal.Journal, id string) []string {
	t.Helper()
	var payloads []string
	for r, err := range j.Read(t.Context(), id, 1, everything) {
		require.NoError(t, err)
		payloads = append(payloads, string(r.Payload))
	}
	return payloads
}
