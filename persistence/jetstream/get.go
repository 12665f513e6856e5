package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

type message struct {
	subject string // "" if it is bare
	at      uint64
	data    []byte
}

func (j *Journal) last(ctx context.Context, subject string) (message, error) {
	return j.askLeader(ctx, j.events, leaderRequest{LastFor: subject})
}

// get returns the message at a sequence number of a stream. Any replica may answer; if it does not
// have the message, get asks the leader.
func (j *Journal) get(ctx context.Context, stream string, at uint64) (message, error) {
	return j.getOne(ctx, stream, at, false)
}

func (j *Journal) getOne(ctx context.Context, stream string, at uint64, bare bool) (message, error) {
	a := j.askFor(stream, at, bare)
	defer a.forget()
	return j.got(ctx, a, stream, at)
}

type asked struct {
	q   *question
	err error
}

func (a asked) forget() {
	if a.q != nil {
		a.q.forget()
	}
}

// askFor requests the message at a sequence number. The answer to a bare request has no headers,
// which halves the cost for server and client.
func (j *Journal) askFor(stream string, at uint64, bare bool) asked {
	request := append(make([]byte, 0, 48), `{"seq":`...)
	request = strconv.AppendUint(request, at, 10)
	if bare {
		request = append(request, `,"no_hdr":true`...)
	}
	q, err := j.inbox.ask(j.api+"DIRECT.GET."+stream, nil, append(request, '}'), 1)
	return asked{q, err}
}

// got waits for the answer to the request for the message at at. If the answer has no message, got
// asks the leader.
func (j *Journal) got(ctx context.Context, a asked, stream string, at uint64) (message, error) {
	if a.err == nil {
		if m, err := a.q.answer(ctx, readPatience); err == nil && status(m) == "" {
			return message{subject: m.Header.Get(js.SubjectHeader), at: at, data: m.Data}, nil
		}
	}
	return j.askLeader(ctx, stream, leaderRequest{Seq: at})
}

type leaderRequest struct {
	Seq     uint64 `json:"seq,omitempty"`
	LastFor string `json:"last_by_subj,omitempty"`
	NextFor string `json:"next_by_subj,omitempty"`
}

// attempts is how many times a request is repeated whose answer is out of date.
const attempts = 4

// askLeader asks the leader of stream. [errMissing] is the leader's answer. Any other error means
// that the leader has not answered.
func (j *Journal) askLeader(ctx context.Context, stream string, request leaderRequest) (m message, err error) {
	err = j.inbox.again(ctx, func(patience time.Duration) error {
		m, err = j.askOnce(ctx, patience, stream, request)
		return err
	})
	return m, err
}

func (j *Journal) askOnce(ctx context.Context, patience time.Duration, stream string, request leaderRequest) (message, error) {
	q, err := sendLeader(j, stream, request)
	if err != nil {
		return message{}, err
	}
	defer q.forget()
	return answered(ctx, q, patience)
}

func sendLeader(j *Journal, stream string, request leaderRequest) (*question, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	return j.inbox.ask(j.api+"STREAM.MSG.GET."+stream, nil, body, 1)
}

// answered waits for the answer to a question of sendLeader.
func answered(ctx context.Context, q *question, patience time.Duration) (message, error) {
	answer, err := q.answer(ctx, patience)
	if err != nil {
		return message{}, err
	}
	var got struct {
		Error   *js.APIError `json:"error"`
		Message *struct {
			Subject  string `json:"subject"`
			Sequence uint64 `json:"seq"`
			Data     []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return message{}, fmt.Errorf("jetstream: an answer of the server: %w", err)
	}
	switch {
	case got.Error != nil && got.Error.ErrorCode == codeNotFound:
		return message{}, errMissing
	case got.Error != nil:
		return message{}, got.Error
	case got.Message == nil:
		return message{}, errors.New("jetstream: an answer of the server has neither message nor error")
	}
	return message{subject: got.Message.Subject, at: got.Message.Sequence, data: got.Message.Data}, nil
}

// backOff waits before the attempt after the nth: 10 ms, 20 ms, 40 ms, up to 250 ms.
func backOff(ctx context.Context, n int) error {
	timer := time.NewTimer(min(5*time.Millisecond<<min(n, 10), 250*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	prefetch = 128
	// prefetchBytes bounds the bytes in flight, assuming that messages are as large as the previous
	// ones.
	prefetchBytes = 4 << 20
)

// gets yields n messages of stream, in order: the ith is the one at at(i). It requests messages
// ahead, and more of them while they are small. [errMissing] is the leader's answer.
func (j *Journal) gets(ctx context.Context, stream string, n int, at func(i int) uint64, bare bool) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		var asking [prefetch]asked // the request for i is at i modulo its length
		began, done := 0, 0
		defer func() {
			for ; done < began; done++ {
				asking[done%prefetch].forget()
			}
		}()
		for window, size := 4, 0; done < n; {
			for ; began < n && began < done+window; began++ {
				asking[began%prefetch] = j.askFor(stream, at(began), bare)
			}
			a := asking[done%prefetch]
			m, err := j.got(ctx, a, stream, at(done))
			a.forget()
			done++
			if !yield(m, err) {
				return
			}
			size = max(len(m.data), size-size/8, 1)
			window = max(2, min(2*window, prefetch, prefetchBytes/size))
		}
	}
}
