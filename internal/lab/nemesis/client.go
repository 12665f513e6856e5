//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	clients = 12

	// endurance is how long a client sends an entry again and again before it gives up.
	endurance = 20 * time.Second

	// pace is how long a client rests after each entry, and after a failure.
	pace = 80 * time.Millisecond
)

// A client writes entries into the ledger, one after the other, and reads now and then, each time
// through a random node.
type client struct {
	dir      string // of the sockets
	nodes    []string
	name     string
	recorder *recorder
}

// run writes until ctx ends. A client that has given up on an entry continues under another name,
// so that the ledger regards it as another client.
func (c *client) run(ctx context.Context) {
	for life := 1; ctx.Err() == nil; life++ {
		name := fmt.Sprintf("%s.%d", c.name, life)
		for n := uint64(1); ctx.Err() == nil && c.write(ctx, Entry{Client: name, N: n}); n++ {
			if n%10 == 0 {
				c.read()
			}
			_ = sleep(ctx, pace)
		}
	}
}

// write sends an entry until it is acknowledged, and reports whether it was.
func (c *client) write(ctx context.Context, e Entry) bool {
	w := Write{Entry: e, Invoked: clock()}
	for ctx.Err() == nil && clock() < w.Invoked+endurance {
		c.recorder.tried()
		reply, err := ask(c.dir, c.anyNode(), Request{Add: &e})
		if err == nil && reply.Error == "" && reply.Receipt != nil {
			w.Returned, w.Place = clock(), reply.Receipt.Place
			break
		}
		_ = sleep(ctx, pace)
	}
	c.recorder.wrote(w)
	return w.acked()
}

func (c *client) read() {
	r := Read{Invoked: clock()}
	reply, err := ask(c.dir, c.anyNode(), Request{Look: true})
	if err == nil && reply.Error == "" && reply.Sum != nil {
		r.Returned, r.Sum = clock(), *reply.Sum
		c.recorder.read(r)
	}
}

func (c *client) anyNode() string { return c.nodes[rand.IntN(len(c.nodes))] }

// sleep returns nil after d, or the cause of ctx when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
