package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// Where asks an instance for its generation.
type Where struct{ ReplyTo actor.ActorRef[string] }

func init() { actor.RegisterType[Where]("stopwatch.where") }

// idle is a singleton that does nothing but answer.
func idle() actor.Behavior[Where] {
	return behaviors.Receive(func(ctx *actor.Context[Where], msg Where) actor.Behavior[Where] {
		msg.ReplyTo.Tell(singleton.GenerationOf(ctx).String())
		return behaviors.Same
	})
}

// where asks until there is an answer, each time for a second at most.
func where(ctx context.Context, ref actor.ActorRef[Where]) (generation string, err error) {
	for {
		if generation, err = whereNow(ctx, ref); err == nil || ctx.Err() != nil {
			return generation, err
		}
	}
}

func whereNow(ctx context.Context, ref actor.ActorRef[Where]) (string, error) {
	return actor.AskTimeout(ctx, ref, time.Second, func(replyTo actor.ActorRef[string]) Where { return Where{replyTo} })
}

// A ring is three nodes in this process, with the same singletons on each. The first is
// the oldest, and hosts them all.
type ring struct {
	singletons int
	seeds      []string
	nodes      []ringNode
	made       int
}

type ringNode struct {
	*cluster.Node
	refs []actor.ActorRef[Where]
}

func newRing(ctx context.Context, singletons int) (*ring, error) {
	r := &ring{singletons: singletons}
	for range 3 {
		if err := r.add(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add starts one more node, and returns when all are up and every singleton answers it.
func (r *ring) add(ctx context.Context) error {
	bind, err := freeAddress()
	if err != nil {
		return err
	}
	r.seeds = nil
	for _, n := range r.nodes {
		r.seeds = append(r.seeds, n.Address())
	}
	if len(r.seeds) == 0 {
		r.seeds = []string{bind}
	}
	r.made++
	node, err := cluster.Start(ctx, cluster.Config{Name: "stopwatch", NodeID: fmt.Sprintf("n%d", r.made), Bind: bind, Seeds: r.seeds})
	if err != nil {
		return err
	}
	n := ringNode{Node: node}
	for i := range r.singletons {
		n.refs = append(n.refs, actor.Spawn(node, behaviors.Singleton(idle), fmt.Sprintf("s%d", i)))
	}
	r.nodes = append(r.nodes, n)
	for _, n := range r.nodes {
		for v := range n.Views(ctx) {
			if v.Converged && up(v) == len(r.nodes) {
				break
			}
		}
	}
	for _, ref := range n.refs {
		if _, err := where(ctx, ref); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func up(v cluster.View) (n int) {
	for _, m := range v.Members {
		if m.Status == cluster.Up {
			n++
		}
	}
	return n
}

// pass lets the host leave. It returns how long after that another instance of each singleton first
// answered the last node.
func (r *ring) pass(ctx context.Context) ([]time.Duration, error) {
	host, asking := r.nodes[0], r.nodes[len(r.nodes)-1]
	before := make([]string, r.singletons)
	for i, ref := range asking.refs {
		var err error
		if before[i], err = where(ctx, ref); err != nil {
			return nil, err
		}
	}
	took, failures := make([]time.Duration, r.singletons), make([]error, r.singletons+1)
	began := time.Now()
	var all sync.WaitGroup
	all.Go(func() { failures[r.singletons] = host.Leave(ctx) })
	for i, ref := range asking.refs {
		all.Go(func() {
			for now := before[i]; now == before[i] && failures[i] == nil; {
				now, failures[i] = where(ctx, ref)
			}
			took[i] = time.Since(began)
		})
	}
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	r.nodes = r.nodes[1:]
	return took, r.add(ctx)
}

func (r *ring) close(ctx context.Context) {
	for _, n := range r.nodes {
		_ = n.Shutdown(ctx) // nothing is measured any more
	}
}

// move returns how long each of so many moves of one singleton took.
func move(ctx context.Context, times int) ([]time.Duration, error) {
	return passes(ctx, times, 1, false)
}

// crowd returns how long each of a hundred singletons took, in each of so many moves, or
// only how long the last of them did.
func crowd(ctx context.Context, times int, last bool) ([]time.Duration, error) {
	return passes(ctx, times, 100, last)
}

func passes(ctx context.Context, times, singletons int, last bool) (all []time.Duration, err error) {
	r, err := newRing(ctx, singletons)
	if err != nil {
		return nil, err
	}
	defer r.close(ctx)
	for range times {
		time.Sleep(500 * time.Millisecond) // the cluster is idle
		took, err := r.pass(ctx)
		if err != nil {
			return nil, err
		}
		if last {
			longest := took[0]
			for _, d := range took {
				longest = max(longest, d)
			}
			took = []time.Duration{longest}
		}
		all = append(all, took...)
	}
	return all, nil
}

// freeAddress returns an address of the loopback interface with a free port.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
