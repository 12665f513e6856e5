package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

var errWhose = fmt.Errorf("%w: name the one node that keeps the message", ErrSeveral)

// GivenUp returns what each node that answers has put aside, and for each of the others why it does
// not answer. If no node answers, it returns an error.
func (c *Client) GivenUp(ctx context.Context) (all []status.GivenUp, silent []string, err error) {
	return ofEach(c, func(one *Client) (g status.GivenUp, err error) {
		err = one.get(ctx, "given-up", nil, &g)
		if err == nil && g.Messages == nil {
			err = fmt.Errorf("%w: its answer has no messages; does the URL lead to node.Handler()?", ErrRefused)
		}
		return g, err
	})
}

// Resend makes the node send a message again that it has put aside, or the message of a dead
// letter. Only for the latter it returns what has become of it, and otherwise nil.
func (c *Client) Resend(ctx context.Context, number string) (*status.Resent, error) {
	body, err := c.message(ctx, "actions/resend", number)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	r := new(status.Resent)
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("%w: its answer does not say what has become of the message: %w", ErrRefused, err)
	}
	return r, nil
}

// Discard makes the node forget a message that it has put aside, or the message of a dead letter.
func (c *Client) Discard(ctx context.Context, number string) error {
	_, err := c.message(ctx, "actions/discard", number)
	return err
}

// Retry lets a projection of the node try again the events that it holds back.
func (c *Client) Retry(ctx context.Context, projection string) (r status.Retried, err error) {
	if !c.Single() {
		return r, errWhose
	}
	body, err := c.first(ctx, http.MethodPost, "actions/retry", url.Values{"projection": {projection}})
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(body, &r)
}

func (c *Client) message(ctx context.Context, path, number string) ([]byte, error) {
	if !c.Single() {
		return nil, errWhose
	}
	return c.first(ctx, http.MethodPost, path, url.Values{"number": {number}})
}
