package reminders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

var browser = &http.Client{Timeout: 3 * time.Second}

// call sends a request to a node and decodes the answer.
func call(ctx context.Context, method, node, path string, answer any) error {
	target := "http://" + node + "/" + path
	r, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return err
	}
	response, err := browser.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, target, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// How customers repeat requests.
const (
	pause      = 50 * time.Millisecond // between two requests
	unanswered = 20 * time.Second      // the customer gives up then
)

// insist repeats a request, with one node after the other, until one answers. tries is how many
// requests that took.
func insist(ctx context.Context, method string, nodes []string, path string, answer any) (tries int, err error) {
	limit := time.Now().Add(unanswered)
	for {
		if err = call(ctx, method, nodes[tries%len(nodes)], path, answer); err == nil {
			return tries + 1, nil
		}
		tries++
		if time.Now().After(limit) {
			return tries, fmt.Errorf("no node has answered within %v; if the machine is busy, run it again later: %w", unanswered, err)
		}
		if err := waitUntil(ctx, time.Now().Add(pause)); err != nil {
			return tries, err
		}
	}
}

// errInterrupted is the error of all that ends early because of a signal.
var errInterrupted = errors.New("interrupted")

func waitUntil(ctx context.Context, at time.Time) error {
	select {
	case <-time.After(time.Until(at)):
		return nil
	case <-ctx.Done():
		return errInterrupted
	}
}
