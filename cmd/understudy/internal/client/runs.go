package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Runs returns the runs of a type of workflows in the journal of the node, the newest first.
func (c *Client) Runs(ctx context.Context, typ, state, tag string, limit int) (all status.Runs, err error) {
	err = c.get(ctx, "runs", url.Values{"type": {typ}, "state": {state}, "tag": {tag}, "limit": {strconv.Itoa(limit)}}, &all)
	return all, err
}

// Run returns what a run does now.
func (c *Client) Run(ctx context.Context, typ, id string) (r status.WorkflowRun, err error) {
	err = c.get(ctx, "runs", url.Values{"type": {typ}, "id": {id}}, &r)
	return r, err
}

// A Steering is what a run shall do.
type Steering struct{ Do, Step, Who, Why string }

// Steer changes what a run does, and returns when that is stored.
func (c *Client) Steer(ctx context.Context, typ, id string, s Steering) error {
	_, err := c.first(ctx, http.MethodPost, "actions/run", url.Values{"type": {typ}, "id": {id}, "do": {s.Do}, "step": {s.Step}, "who": {s.Who}, "why": {s.Why}})
	return err
}
