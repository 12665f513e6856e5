//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// deliberation is how long a clerk thinks at most before a call. A process that is stopped
// meanwhile calls when it is continued, and may have been replaced by then.
const deliberation = time.Second

// A clerk executes the steps of trips in one process. It writes each execution down, and calls the
// agency.
type clerk struct {
	diary  *diary
	client *http.Client
}

// newClerk returns a clerk that calls the agency at a socket.
func newClerk(d *diary, socket string) *clerk {
	dialer := &net.Dialer{}
	return &clerk{d, &http.Client{Transport: outside.Transport{Base: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
	}}}}
}

// errNoAnswer is the error of a call after which nobody knows whether it had its effect.
var errNoAnswer = errors.New("nemesis: no answer")

// call is an execution of a step of a run. It makes up to a number of requests until it has an
// answer. It waits for that also if ctx ends, so that no effect comes later than a compensation of
// the same process.
func (c *clerk) call(ctx context.Context, run string, requests int) (b Booking, err error) {
	e := Execution{Run: run, Step: strings.TrimPrefix(workflow.Key(ctx), tripType+"/"+run+"/"), Token: workflow.Token(ctx)}
	b.Step = e.Step
	if b.By, err = c.diary.begins(e); err != nil {
		return Booking{}, err
	}
	share := rand.Float64()
	time.Sleep(time.Duration(share * share * float64(deliberation)))
	err = errNoAnswer
	for n := 0; n < requests && errors.Is(err, errNoAnswer); n++ {
		b.Effect, err = c.request(context.WithoutCancel(ctx), b.By)
	}
	return b, err
}

// request asks the agency once.
func (c *clerk) request(ctx context.Context, by string) (effect int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agency/", http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set(byHeader, by)
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		err = json.NewDecoder(answer.Body).Decode(&effect)
		return effect, err
	case http.StatusServiceUnavailable:
		return 0, fmt.Errorf("%w: %s", errNoAnswer, answer.Status)
	}
	return 0, fmt.Errorf("the agency says: %s", answer.Status)
}
