package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

// publish stores data at subject in the stream of events if expected is the last message there, and
// returns its number. [errStale] means that another message is the last one.
func (j *Journal) publish(ctx context.Context, subject string, data []byte, expected uint64) (uint64, error) {
	return j.send(ctx, j.events, subject, data, nats.Header{
		js.ExpectedStreamHeader:      {j.events},
		js.ExpectedLastSubjSeqHeader: {strconv.FormatUint(expected, 10)},
	})
}

func (j *Journal) send(ctx context.Context, stream, subject string, data []byte, header nats.Header) (uint64, error) {
	for n := 1; ; n++ {
		if ctx.Err() != nil {
			return 0, unavailable(ctx, nil)
		}
		if j.nc.IsClosed() {
			return 0, unavailable(ctx, nats.ErrConnectionClosed)
		}
		answer, err := j.inbox.request(ctx, requestPatience, subject, header, data)
		if err == nil {
			return stored(answer.Data, stream)
		}
		if !errors.Is(err, nats.ErrNoResponders) || n == attempts || backOff(ctx, n+3) != nil {
			return 0, published(ctx, err)
		}
	}
}

func stored(answer []byte, stream string) (uint64, error) {
	if at, ok := acknowledged(answer, stream); ok {
		return at, nil
	}
	var ack struct {
		Error  *js.APIError `json:"error"`
		Stream string       `json:"stream"`
		Seq    uint64       `json:"seq"`
	}
	err := json.Unmarshal(answer, &ack)
	switch {
	case err == nil && ack.Error != nil:
		return 0, refused(ack.Error)
	case err != nil || ack.Stream != stream || ack.Seq == 0:
		return 0, fmt.Errorf("%w: %q does not acknowledge a message of %s", journal.ErrUnknown, answer, stream)
	}
	return ack.Seq, nil
}

// acknowledged parses the common form of answers: {"stream":"bank","seq":42}.
func acknowledged(answer []byte, stream string) (at uint64, ok bool) {
	const begin, between = `{"stream":"`, `","seq":`
	n := len(begin) + len(stream) + len(between)
	if len(answer) < n+2 || answer[len(answer)-1] != '}' || string(answer[:len(begin)]) != begin ||
		string(answer[len(begin):n-len(between)]) != stream || string(answer[n-len(between):n]) != between {
		return 0, false
	}
	at, err := strconv.ParseUint(string(answer[n:len(answer)-1]), 10, 64)
	return at, err == nil && at > 0
}

// headerSpace bounds the bytes of a message's headers, subject and head.
const headerSpace = 8 << 10

func (j *Journal) inline() int {
	return max(int(min(j.nc.MaxPayload(), maxMessage)-headerSpace), minMessage)
}

const (
	maxMessage = 1 << 20 // larger ones slow replication down
	minMessage = 4 << 10
)

func (j *Journal) chunkSize() int { return min(j.inline(), 512<<10) }

// upload stores data in chunks, and returns their numbers. If it fails, nothing refers to the
// chunks, so the outcome is known.
func (j *Journal) upload(ctx context.Context, subject string, data []byte) ([]uint64, error) {
	var chunks []uint64
	header := nats.Header{js.ExpectedStreamHeader: {j.large}}
	for size := j.chunkSize(); ; {
		chunk := data[:min(size, len(data))]
		at, err := j.send(ctx, j.large, subject, chunk, header)
		if err != nil {
			return nil, notStored(ctx, err)
		}
		chunks = append(chunks, at)
		if data = data[len(chunk):]; len(data) == 0 {
			return chunks, nil
		}
	}
}

func (j *Journal) download(ctx context.Context, subject string, chunks []uint64) ([]byte, error) {
	var data []byte
	for m, err := range j.gets(ctx, j.large, len(chunks), func(i int) uint64 { return chunks[i] }, false) {
		if err != nil {
			return nil, err
		}
		if m.subject != subject {
			return nil, corrupt("message %d of %s is at %q", m.at, j.large, m.subject)
		}
		data = append(data, m.data...)
	}
	return data, nil
}

// purge removes the messages of subject before the one at bound. If bound is 0 or 1, it does
// nothing: the server would treat 0 as no bound.
func (j *Journal) purge(ctx context.Context, stream, subject string, bound uint64) error {
	if bound <= 1 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()
	return j.streams[stream].Purge(wait, js.WithPurgeSubject(subject), js.WithPurgeSequence(bound))
}
