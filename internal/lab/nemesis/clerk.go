//go:build linux

package main

import (
	"context"
	"encoding/json"
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

// call is an execution of a step of a run. It waits for the answer also if ctx ends, so that no
// effect comes later than a compensation of the same process.
func (c *clerk) call(ctx context.Context, run string) (Booking, error) {
	e := Execution{Run: run, Step: strings.TrimPrefix(workflow.Key(ctx), tripType+"/"+run+"/"), Token: workflow.Token(ctx)}
	by, err := c.diary.begins(e)
	if err != nil {
		return Booking{}, err
	}
	share := rand.Float64()
	time.Sleep(time.Duration(share * share * float64(deliberation)))
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://agency/", nil)
	if err != nil {
		return Booking{}, err
	}
	r.Header.Set(byHeader, by)
	answer, err := c.client.Do(r)
	if err != nil {
		return Booking{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Booking{}, fmt.Errorf("the agency says: %s", answer.Status)
	}
	b := Booking{Step: e.Step, By: by}
	err = json.NewDecoder(answer.Body).Decode(&b.Effect)
	return b, err
}
