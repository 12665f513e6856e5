package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// checkEnd fails if the stream is known to have lost its end. A server that finds its file damaged
// drops everything after the damage and continues. To a reader of one id, the rest looks like an
// earlier history. Two signs reveal the loss. The server usually still knows the last number, but
// has no message with that number, which journals never remove. Or it reports its lost messages,
// until it restarts.
func (j *Journal) checkEnd(ctx context.Context) error {
	state, err := j.state(ctx)
	if err != nil {
		return err
	}
	last := state.Last
	if lost := state.Lost.Messages; len(lost) > 0 {
		last = lost[len(lost)-1] // unless a replica has given it back
	}
	if last == 0 {
		return nil
	}
	if _, err = j.get(ctx, j.events, last); errors.Is(err, errMissing) {
		return corrupt("the stream has %d messages, but its last one, number %d, is lost, and maybe many before it: restore it from a backup; to go on with what is left, open it once with Config.AcceptLoss", state.Messages, last)
	}
	return err
}

type streamState struct {
	Messages uint64 `json:"messages"`
	Last     uint64 `json:"last_seq"`
	Lost     struct {
		Messages []uint64 `json:"msgs"`
	} `json:"lost"`
}

func (j *Journal) state(ctx context.Context) (state streamState, err error) {
	err = j.inbox.again(ctx, func(patience time.Duration) error {
		answer, err := j.inbox.request(ctx, patience, j.api+"STREAM.INFO."+j.events, nil, nil)
		if err == nil {
			state, err = decodeState(answer.Data)
		}
		return err
	})
	return state, err
}

func decodeState(answer []byte) (streamState, error) {
	var info struct {
		Error *js.APIError `json:"error"`
		State streamState  `json:"state"`
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return streamState{}, fmt.Errorf("jetstream: an answer of the server: %w", err)
	}
	if info.Error != nil {
		return streamState{}, info.Error
	}
	return info.State, nil
}
