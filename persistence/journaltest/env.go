package journaltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

type env struct {
	*testing.T
	features Features
	open     func(t *testing.T) journal.Journal
	law      string
	skips    *skips
}

func (e *env) journal() journal.Journal { return e.open(e.T) }

func (e *env) snapshots(j journal.Journal) journal.SnapshotStore {
	store, ok := journal.As[journal.SnapshotStore](j)
	if !ok {
		e.skip(fmt.Sprintf("%T is not a snapshot store", j))
	}
	return store
}

func (e *env) need(present bool, hook string) {
	if !present {
		e.skip(fmt.Sprintf("Features.%s is not set", hook))
	}
}

func (e *env) skip(reason string) {
	e.Helper()
	e.skips.note(e.law, reason)
	e.Skip(reason)
}

type writer struct {
	e     *env
	j     journal.Journal
	id    string
	claim journal.Claim
	last  uint64
}

func (e *env) writer(j journal.Journal, id string) *writer {
	e.Helper()
	claim, err := j.Claim(e.Context(), id, journal.WriterID{byte(len(id))}, journal.Bounds{})
	require.NoError(e, err)
	return &writer{e: e, j: j, id: id, claim: claim, last: claim.LastSeq}
}

// next makes a request of one record for each payload, without sending it.
func (w *writer) next(payloads ...string) journal.AppendRequest {
	return request(w.id, w.claim.Epoch, w.last, payloads...)
}

func (w *writer) append(payloads ...string) {
	w.e.Helper()
	require.NoError(w.e, w.try(w.next(payloads...)))
	w.last += uint64(len(payloads))
}

func (w *writer) try(req journal.AppendRequest) error {
	return appendOne(w.e, w.j, req)
}

func appendOne(e *env, j journal.Journal, req journal.AppendRequest) error {
	return j.Append(e.Context(), []journal.AppendRequest{req})[0]
}

func request(id string, epoch, prev uint64, payloads ...string) journal.AppendRequest {
	req := journal.AppendRequest{ID: id, Epoch: epoch, Prev: prev}
	for i, p := range payloads {
		req.Records = append(req.Records, journal.Record{
			Seq: prev + uint64(i) + 1, Epoch: epoch, Type: "event", Payload: []byte(p), Time: time.Unix(1_800_000_000, int64(i)),
		})
	}
	return req
}

func (e *env) read(j journal.Journal, id string, from, to uint64) []journal.Record {
	e.Helper()
	var records []journal.Record
	for r, err := range j.Read(e.Context(), id, from, to) {
		require.NoError(e, err)
		if len(records) > 0 {
			require.Equal(e, records[len(records)-1].Seq+1, r.Seq)
		}
		records = append(records, r)
	}
	return records
}

func (e *env) payloads(j journal.Journal, id string) []string {
	e.Helper()
	payloads := []string{}
	for _, r := range e.read(j, id, 1, everything) {
		payloads = append(payloads, string(r.Payload))
	}
	return payloads
}

const everything = 1<<64 - 1

func numbered(prefix string, n int) []string {
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return payloads
}
