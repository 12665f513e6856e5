package leases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/jetstream/internal/patient"
)

var (
	// errStale: the last entry of the key is not the expected one. Nothing was stored.
	errStale = errors.New("others have written first")
	// errAway: no server is known to have carried out the request. It may be repeated.
	errAway = errors.New("the servers do not answer or cannot do it just now")
)

type entry struct {
	revision uint64 // 0 when the key has no entry
	value    []byte // empty when the key was deleted
}

type bucket interface {
	// last returns the last entry of key, as one server knows it.
	last(ctx context.Context, key string) (entry, error)

	// update stores value if the last entry of key has that revision, and returns the new revision.
	// Otherwise it returns [errStale]. After any other error value may have been stored, or may be
	// stored later, under the same condition.
	update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// requestPatience limits one request: a request that was in flight when a leader died is never
// answered.
const requestPatience = 2 * time.Second

var errBroken = errors.New("the connection broke before the answer")

type keyValue struct {
	nc  *nats.Conn
	kv  jetstream.KeyValue
	api string // prefix of the API's subjects
}

// last asks the leader of the stream. The direct get of a KeyValue may be answered by a replica
// that is behind, and does not return the revision of a deletion.
func (b *keyValue) last(ctx context.Context, key string) (entry, error) {
	question, err := json.Marshal(map[string]string{"last_by_subj": "$KV." + b.kv.Bucket() + "." + key})
	if err != nil {
		return entry{}, err
	}
	if ctx.Err() != nil {
		return entry{}, ctx.Err()
	}
	wait, end := b.asking(ctx)
	defer end()
	answer, err := b.nc.RequestWithContext(wait, b.api+"STREAM.MSG.GET.KV_"+b.kv.Bucket(), question)
	if err != nil {
		return entry{}, b.explain(ctx, wait, err)
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Revision uint64 `json:"seq"`
			Value    []byte `json:"data"`
		} `json:"message"`
	}
	switch err := json.Unmarshal(answer.Data, &got); {
	case err != nil:
		return entry{}, fmt.Errorf("an answer of the server: %w", err)
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return entry{}, nil
	case got.Error != nil:
		return entry{}, b.explain(ctx, wait, got.Error)
	case got.Message == nil:
		return entry{}, errors.New("an answer of the server has neither message nor error")
	}
	return entry{revision: got.Message.Revision, value: got.Message.Value}, nil
}

func (b *keyValue) update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	wait, end := b.asking(ctx)
	defer end()
	now, err := b.kv.Update(wait, key, value, revision)
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return 0, fmt.Errorf("%w: %w", errStale, err)
	case err != nil:
		return 0, b.explain(ctx, wait, err)
	}
	return now, nil
}

func (b *keyValue) asking(ctx context.Context) (wait context.Context, end func()) {
	timed, stop := context.WithTimeout(ctx, requestPatience)
	wait, cancel := context.WithCancelCause(timed)
	states := b.nc.StatusChanged(nats.RECONNECTING)
	go func() {
		if _, broken := <-states; broken {
			cancel(errBroken)
		}
	}()
	return wait, func() {
		b.nc.RemoveStatusListener(states)
		cancel(nil)
		stop()
	}
}

// explain wraps the error of a request in wait, within ctx, with errAway if repeating the request
// may help.
func (b *keyValue) explain(ctx, wait context.Context, err error) error {
	var answer *jetstream.APIError
	unavailable := errors.As(err, &answer) && answer.Code == http.StatusServiceUnavailable
	silent := ctx.Err() == nil && wait.Err() != nil
	if broken := context.Cause(wait); errors.Is(broken, errBroken) {
		err = fmt.Errorf("%w: %w", broken, err)
	}
	err = patient.WithRefusal(b.nc, err)
	if unavailable || silent || errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}
