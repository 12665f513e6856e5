package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

var errWhose = errors.New("several URLs: name the one node that keeps the message")

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

// Resend makes the node send a message again that it has put aside.
func (c *Client) Resend(ctx context.Context, number uint64) error {
	return c.message(ctx, "actions/resend", number)
}

// Discard makes the node forget a message that it has put aside.
func (c *Client) Discard(ctx context.Context, number uint64) error {
	return c.message(ctx, "actions/discard", number)
}

func (c *Client) message(ctx context.Context, path string, number uint64) error {
	if !c.Single() {
		return errWhose
	}
	_, err := c.first(ctx, http.MethodPost, path, url.Values{"number": {strconv.FormatUint(number, 10)}})
	return err
}
