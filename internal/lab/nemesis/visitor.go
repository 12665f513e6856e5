//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// visitorsPerNode is how many clients of the lists ask each node.
	visitorsPerNode = 2

	// visitPace is how long a visitor rests after each visit.
	visitPace = 25 * time.Millisecond
)

// appendShare is how many of a hundred visits append; a test changes it.
var appendShare = 70

// A crowd is the clients of all lists. They visit some lists often, and most of them rarely.
type crowd struct {
	dir      string // of the sockets
	lists    int
	patience time.Duration // how long a node waits for an answer
	recorder *recorder
	names    atomic.Int64 // visitors so far

	mu   sync.Mutex // guards ends
	ends map[string]func()
}

func newCrowd(dir string, lists int, patience time.Duration, r *recorder) *crowd {
	return &crowd{dir: dir, lists: lists, patience: patience, recorder: r, ends: map[string]func(){}}
}

// visit starts the visitors of a node. They end with ctx, or by leave.
func (c *crowd) visit(ctx context.Context, node string) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for range visitorsPerNode {
		v := &visitor{crowd: c, node: node, name: fmt.Sprintf("v%d", c.names.Add(1))}
		v.draw = rand.NewZipf(rand.New(rand.NewPCG(rand.Uint64(), 0)), 1.1, 8, uint64(c.lists-1))
		running.Go(func() { v.run(ctx) })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[node] = func() {
		cancel()
		running.Wait()
	}
}

// leave ends the visitors of a node. It returns when their last visits are over.
func (c *crowd) leave(node string) {
	c.mu.Lock()
	end := c.ends[node]
	delete(c.ends, node)
	c.mu.Unlock()
	if end != nil {
		end()
	}
}

// A visitor visits lists through one node, one after the other. It does not repeat a visit without
// an answer.
type visitor struct {
	*crowd

	node, name string
	draw       *rand.Zipf
}

func (v *visitor) run(ctx context.Context) {
	for n := uint64(1); ctx.Err() == nil; n++ {
		c := Call{List: listName(int(v.draw.Uint64()))}
		if rand.IntN(100) < appendShare {
			c.Entry = Entry{Client: v.name, N: n}
		}
		if c, sent := v.call(v.node, c); sent {
			v.recorder.visited(c)
		}
		_ = sleep(ctx, visitPace)
	}
}

// call visits a list through a node. It returns the call with its times and the answer. sent is
// false if no node can have received it.
func (c *crowd) call(node string, of Call) (_ Call, sent bool) {
	of.Invoked = clock()
	reply, err := askWithin(c.dir, node, Request{Visit: &Errand{List: of.List, Entry: of.Entry, Patience: c.patience}}, c.patience)
	if err == nil && reply.Error == "" && reply.Content != nil {
		of.Returned, of.Content = clock(), *reply.Content
	}
	return of, !unsent(err)
}

// readAll reads each list once, through all nodes in turn. It repeats a read without an answer
// until a limit. It returns the lists that have not answered by then, and how long the slowest
// took.
func (c *crowd) readAll(nodes []string, limit time.Duration) (silent []string, slowest time.Duration) {
	var mu sync.Mutex // guards silent and slowest
	var next atomic.Int64
	var reading sync.WaitGroup
	for range readersAtOnce {
		reading.Go(func() {
			for n := int(next.Add(1)) - 1; n < c.lists; n = int(next.Add(1)) - 1 {
				took, ok := c.read(listName(n), nodes[n%len(nodes)], limit)
				mu.Lock()
				slowest = max(slowest, took)
				if !ok {
					silent = append(silent, listName(n))
				}
				mu.Unlock()
			}
		})
	}
	reading.Wait()
	return silent, slowest
}

// readersAtOnce is how many lists are read at once in the end.
const readersAtOnce = 16

// read reads a list until it answers, and returns how long that took.
func (c *crowd) read(list, node string, limit time.Duration) (took time.Duration, ok bool) {
	from := clock()
	for !ok && clock() < from+limit {
		of, _ := c.call(node, Call{List: list})
		c.recorder.visited(of)
		ok = of.answered()
	}
	return clock() - from, ok
}

// listName returns the id of a list, whose numbers are from 0.
func listName(n int) string { return fmt.Sprintf("l%d", n) }
