package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	js "github.com/nats-io/nats.go/jetstream"
)

// checkEnd refuses a stream that is known to have lost its end. A server that finds its
// file damaged drops what is behind the damage, and goes on; to those who ask for one id,
// what is left looks like an earlier history. But mostly it still knows the last number:
// then there is no message of that number, and journals never remove that one. Or it tells,
// until it starts again, what it has lost.
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

// A streamState is what a server tells of the events.
type streamState struct {
	Messages uint64 `json:"messages"`
	Last     uint64 `json:"last_seq"`
	Lost     struct {
		Messages []uint64 `json:"msgs"`
	} `json:"lost"`
}

func (j *Journal) state(ctx context.Context) (streamState, error) {
	answer, err := j.inbox.request(ctx, j.api+"STREAM.INFO."+j.events, nil, nil)
	if err != nil {
		return streamState{}, unavailable(ctx, err)
	}
	var info struct {
		Error *js.APIError `json:"error"`
		State streamState  `json:"state"`
	}
	err = json.Unmarshal(answer.Data, &info)
	switch {
	case err != nil:
		return streamState{}, fmt.Errorf("jetstream: an answer of the server: %w", err)
	case info.Error != nil:
		return streamState{}, unavailable(ctx, info.Error)
	}
	return info.State, nil
}
