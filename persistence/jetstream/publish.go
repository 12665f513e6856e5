package jetstream

import (
	"context"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// publish stores data at subject of the events, if expected is the last message there, and
// returns where it is. [errStale] says that another one is.
func (j *Journal) publish(ctx context.Context, subject string, data []byte, expected uint64) (uint64, error) {
	return j.send(ctx, j.events, subject, data, js.WithExpectLastSequencePerSubject(expected))
}

// send stores data in stream.
func (j *Journal) send(ctx context.Context, stream, subject string, data []byte, opts ...js.PublishOpt) (uint64, error) {
	if ctx.Err() != nil {
		return 0, unavailable(ctx, nil)
	}
	if j.nc.IsClosed() {
		return 0, unavailable(ctx, nats.ErrConnectionClosed)
	}
	wait, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()
	ack, err := j.js.PublishMsg(wait, &nats.Msg{Subject: subject, Data: data}, append(opts, js.WithExpectStream(stream))...)
	if err != nil {
		return 0, published(ctx, err)
	}
	return ack.Sequence, nil
}

// headerSpace is what the headers of a message, its subject and its head may take.
const headerSpace = 8 << 10

// inline returns how many bytes a message can carry.
func (j *Journal) inline() int {
	return max(int(min(j.nc.MaxPayload(), maxMessage)-headerSpace), minMessage)
}

const (
	maxMessage = 1 << 20 // greater ones are no good for replication
	minMessage = 4 << 10
)

// chunkSize is how many bytes go into one message of the stream of large things.
func (j *Journal) chunkSize() int { return min(j.inline(), 512<<10) }

// upload stores data in chunks, and returns where they are. A failure means that nothing
// refers to them: it is no unknown outcome.
func (j *Journal) upload(ctx context.Context, subject string, data []byte) ([]uint64, error) {
	var chunks []uint64
	for size := j.chunkSize(); ; {
		chunk := data[:min(size, len(data))]
		at, err := j.send(ctx, j.large, subject, chunk)
		if err != nil {
			return nil, notStored(ctx, err)
		}
		chunks = append(chunks, at)
		if data = data[len(chunk):]; len(data) == 0 {
			return chunks, nil
		}
	}
}

// download returns what upload has stored.
func (j *Journal) download(ctx context.Context, subject string, chunks []uint64) ([]byte, error) {
	var data []byte
	for _, at := range chunks {
		m, err := j.get(ctx, j.large, at)
		if err != nil {
			return nil, err
		}
		if m.subject != subject {
			return nil, corrupt("message %d of %s is at %q", at, j.large, m.subject)
		}
		data = append(data, m.data...)
	}
	return data, nil
}

// purge removes the messages of subject before the one at bound. Nothing is before the
// first; to the server, a bound of 0 would be none.
func (j *Journal) purge(ctx context.Context, stream, subject string, bound uint64) error {
	if bound <= 1 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()
	return j.streams[stream].Purge(wait, js.WithPurgeSubject(subject), js.WithPurgeSequence(bound))
}
