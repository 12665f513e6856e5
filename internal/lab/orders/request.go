package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// newClient returns a client that keeps as many connections as there are requests.
func newClient() *http.Client {
	return &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 500}}
}

var browser = newClient()

// call sends a request to a node and decodes the answer.
func call(ctx context.Context, method, node, path string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	target := "http://" + node + "/" + path
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
	if err != nil {
		return err
	}
	response, err := browser.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000)) // it is part of an error
		return fmt.Errorf("%s %s: %s: %s", method, target, response.Status, strings.TrimSpace(string(text)))
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// How customers repeat requests.
const (
	pause      = 100 * time.Millisecond // between two requests
	unanswered = 30 * time.Second       // the customer gives up then
)

// insist repeats a request, with one node after the other, until one answers.
func insist(ctx context.Context, method string, nodes []string, path string, body, answer any) (err error) {
	limit := time.Now().Add(unanswered)
	for try := 0; ; try++ {
		if err = call(ctx, method, nodes[try%len(nodes)], path, body, answer); err == nil {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("no node has answered within %v; if the machine is busy, run it again later: %w", unanswered, err)
		}
		if err := waitUntil(ctx, time.Now().Add(pause)); err != nil {
			return err
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
