package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// The patience of the client.
const (
	requestLimit = time.Second            // of a request, with all nodes that it is sent to
	dialLimit    = 300 * time.Millisecond // of a connection to one node
)

// A client sends requests at a steady rate, whether those before were answered or not. It sends a
// request to the nodes in turn while it is certain that none has stored it. It gives up any other
// request: nothing is sent twice.
type client struct {
	nodes []string // addresses
	began time.Time
	http  *http.Client

	mu   sync.Mutex // guards what follows
	acks []ack
	sent int
}

func newClient(nodes []string, began time.Time) *client {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialLimit}).DialContext,
		MaxIdleConnsPerHost: 256,
	}
	return &client{nodes: nodes, began: began, http: &http.Client{Transport: transport}}
}

// run sends requests until ctx ends, and waits for their answers.
func (c *client) run(ctx context.Context, rate int) {
	var flying sync.WaitGroup
	defer flying.Wait()
	defer c.http.CloseIdleConnections()
	ticks := time.NewTicker(time.Second / time.Duration(rate))
	defer ticks.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		flying.Go(func() { c.send(context.WithoutCancel(ctx), i) })
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
}

func (c *client) send(ctx context.Context, i int) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	a := ack{request: fmt.Sprint("r", i), sent: time.Since(c.began)}
	for try := range c.nodes {
		n, err := c.ask(ctx, c.nodes[(i+try)%len(c.nodes)], a.request)
		if err == nil {
			a.issued, a.acked = n, time.Since(c.began)
			c.note(&a)
			return
		}
		if !notSent(err) {
			break
		}
	}
	c.note(nil)
}

// ask sends a request to one node.
func (c *client) ask(ctx context.Context, node, request string) (n issued, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+node+"/next?request="+request, nil)
	if err != nil {
		return n, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return n, err
	}
	defer answer.Body.Close()
	defer func() { _, _ = io.Copy(io.Discard, answer.Body) }() // so that the connection is used again
	switch answer.StatusCode {
	case http.StatusOK:
		return n, json.NewDecoder(answer.Body).Decode(&n)
	case http.StatusServiceUnavailable:
		return n, errNotLeader
	default:
		return n, errors.New(answer.Status)
	}
}

// notSent reports whether a node has certainly stored nothing: it said so, or there was no
// connection to it.
func notSent(err error) bool {
	var network *net.OpError
	return errors.Is(err, errNotLeader) || errors.As(err, &network) && network.Op == "dial"
}

// note records the end of a request; a is nil if it was given up.
func (c *client) note(a *ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if a != nil {
		c.acks = append(c.acks, *a)
	}
}

// figures are what the client has seen so far.
type figures struct {
	sent, acked int
	last        ack
}

func (c *client) figures() figures {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := figures{sent: c.sent, acked: len(c.acks)}
	if f.acked > 0 {
		f.last = c.acks[f.acked-1]
	}
	return f
}

// ready reports whether a node answers that it can take over.
func (c *client) ready(ctx context.Context, node string) bool {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+node+"/ready", nil)
	if err != nil {
		return false
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// times returns when numbers were acknowledged so far.
func (c *client) times() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ackTimes(c.acks)
}
