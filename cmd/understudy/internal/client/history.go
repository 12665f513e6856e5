package client

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Histories returns the history of each node that answers, and for each of the others why it does
// not. If no node answers, it returns an error.
func (c *Client) Histories(ctx context.Context) (all []status.History, silent []string, err error) {
	return ofEach(c, func(one *Client) (status.History, error) { return one.history(ctx) })
}

func (c *Client) history(ctx context.Context) (h status.History, err error) {
	err = c.get(ctx, "history", nil, &h)
	if err == nil && h.Events == nil {
		err = fmt.Errorf("%w: its answer has no events; does the URL lead to node.Handler()?", ErrRefused)
	}
	return h, err
}
