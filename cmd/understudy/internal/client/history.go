package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// Histories returns the history of each node that answers, and for each of the others why it does
// not. If no node answers, it returns an error.
func (c *Client) Histories(ctx context.Context) (all []status.History, silent []string, err error) {
	for _, base := range c.bases {
		h, failure := c.historyAt(ctx, base)
		switch {
		case failure == nil:
			all = append(all, h)
			continue
		case err == nil:
			err = failure
		default:
			err = fmt.Errorf("%w; %w", err, failure)
		}
		if !errors.Is(failure, ErrSilent) { // which has the URL in its text
			failure = fmt.Errorf("%s: %w", base.Redacted(), failure)
		}
		silent = append(silent, failure.Error())
	}
	if len(all) > 0 {
		err = nil
	}
	return all, silent, err
}

// historyAt returns the history of one node.
func (c *Client) historyAt(ctx context.Context, base *url.URL) (h status.History, err error) {
	one := *c
	one.bases = []*url.URL{base}
	err = one.get(ctx, "history", nil, &h)
	if err == nil && h.Events == nil {
		err = fmt.Errorf("%w: its answer has no events; does the URL lead to node.Handler()?", ErrRefused)
	}
	return h, err
}
