package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/journal"
)

// ErrNewerSchema: a later version of this package has stored the message. Use a newer build of the
// program.
var ErrNewerSchema = errors.New("jetstream: the journal is newer than this program")

var (
	// errStale: the subject has a later message than the one that was expected. Nothing
	// was stored.
	errStale   = errors.New("jetstream: the subject has changed")
	errMissing = errors.New("jetstream: no such message")
)

// Error codes of the server for which nats.go has no name.
const (
	codeAccountExceeded js.ErrorCode = 10002
	codeInsufficient    js.ErrorCode = 10023
	codeNotFound        js.ErrorCode = 10037
	codeStorageExceeded js.ErrorCode = 10047
	codeTooLarge        js.ErrorCode = 10054
	codeStale           js.ErrorCode = 10071
	codeStoreFailed     js.ErrorCode = 10077
	codeBytesExceeded   js.ErrorCode = 10122
	codeStaleReplicated js.ErrorCode = 10164
)

func published(ctx context.Context, err error) error {
	var answer *js.APIError
	switch {
	case errors.As(err, &answer):
		return refused(answer)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", journal.ErrTooLarge, err)
	case errors.Is(err, js.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrReconnectBufExceeded):
		return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", journal.ErrUnknown, ctx.Err())
	}
	return fmt.Errorf("%w: %w", journal.ErrUnknown, err)
}

func refused(answer *js.APIError) error {
	switch answer.ErrorCode {
	case codeStale, codeStaleReplicated:
		return errStale
	case codeTooLarge:
		return fmt.Errorf("%w: %w", journal.ErrTooLarge, answer)
	case codeAccountExceeded, codeInsufficient, codeStorageExceeded, codeBytesExceeded:
		return fmt.Errorf("%w: %w", journal.ErrFull, answer)
	case codeStoreFailed:
		if strings.Contains(answer.Description, "exceeded") || strings.Contains(answer.Description, "no space left") {
			return fmt.Errorf("%w: %w", journal.ErrFull, answer)
		}
		return fmt.Errorf("%w: %w", journal.ErrUnknown, answer)
	default:
		return fmt.Errorf("%w: %w", journal.ErrUnavailable, answer)
	}
}

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

// notStored turns the unknown outcome of a preparatory step into ErrUnavailable, because the change
// itself has not begun.
func notStored(ctx context.Context, err error) error {
	if errors.Is(err, journal.ErrUnknown) {
		return unavailable(ctx, errors.New(err.Error()))
	}
	return err
}

func wrap(op, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, id, err)
}
