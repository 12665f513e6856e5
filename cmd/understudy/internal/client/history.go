package client

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Histories returns the history of each node that answers, and for each of the others why it does
// not. If no node answers, it returns an error.
func (c *Client) Histories(ctx context.Context) (all []status.History, silent []string, err error) {
	for _, one := range c.Each() {
		h, failure := one.history(ctx)
		switch {
		case failure == nil:
			all = append(all, h)
			continue
		case err == nil:
			err = failure
		default:
			err = fmt.Errorf("%w; %w", err, failure)
		}
		silent = append(silent, one.Failed(failure).Error())
	}
	if len(all) > 0 {
		err = nil
	}
	return all, silent, err
}

// history returns the history of one node.
func (c *Client) history(ctx context.Context) (h status.History, err error) {
	err = c.get(ctx, "history", nil, &h)
	if err == nil && h.Events == nil {
		err = fmt.Errorf("%w: its answer has no events; does the URL lead to node.Handler()?", ErrRefused)
	}
	return h, err
}
