package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
)

// many measures a cluster of three nodes with so many singletons on each. It measures how long
// after they are spawned the last of them has answered. It then kills the process that hosts them
// all with SIGKILL, and measures how long it takes until the last has answered again, from another
// node. The host is a process of its own; the other two nodes are in this one. Fenced singletons
// are event-sourced on one SQLite file; the others wait for the margin after the kill.
func many(ctx context.Context, singletons int, fenced bool) error {
	behavior := idleMany
	cfg := nodeConfig{Name: "n1", Singletons: singletons}
	if fenced {
		dir, err := os.MkdirTemp("", "stopwatch")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // nothing is measured any more
		cfg.Database = filepath.Join(dir, "journal.db")
		journal, err := sqlite.Open(cfg.Database) //nolint:contextcheck // opening takes no context
		if err != nil {
			return err
		}
		defer journal.Close()
		behavior = fencedMany(journal)
	}
	host, err := startHost(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = host.Signal(os.Kill) }() // nothing is measured any more
	r := ring{}
	defer r.close(context.WithoutCancel(ctx))
	for _, name := range []string{"n2", "n3"} {
		bind, err := freeAddress()
		if err != nil {
			return err
		}
		node, err := cluster.Start(ctx, cluster.Config{Name: "stopwatch", NodeID: name, Bind: bind, Seeds: host.cfg.Seeds})
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, ringNode{Node: node})
	}
	began := time.Now()
	if err := host.Tell("spawn"); err != nil {
		return err
	}
	for i := range r.nodes {
		r.nodes[i].refs = spawnMany(r.nodes[i].Node, singletons, behavior)
	}
	fmt.Printf("%-46s %8s\n", fmt.Sprintf("%d singletons, spawned", singletons), ms(time.Since(began)))
	before, err := answers(ctx, r.nodes[1].refs, make([]string, singletons))
	if err != nil {
		return err
	}
	fmt.Printf("%-46s %8s\n", "… and each has answered", ms(time.Since(began)))
	time.Sleep(calm)
	began = time.Now()
	if err := host.Signal(os.Kill); err != nil {
		return err
	}
	if _, err := answers(ctx, r.nodes[1].refs, before); err != nil {
		return err
	}
	fmt.Printf("%-46s %8s\n", "SIGKILL of their host, to the last one's reply", ms(time.Since(began)))
	return nil
}

func idleMany(string) actor.Behavior[Where] { return behaviors.Singleton(idle) }

// fencedMany returns behaviors of event-sourced singletons, which recover from the journal
// and persist nothing more.
func fencedMany(journal persistence.Journal) func(name string) actor.Behavior[Where] {
	return func(name string) actor.Behavior[Where] {
		return behaviors.Singleton(func() actor.Behavior[Where] {
			return behaviors.EventSourced(name, journal, 0,
				func(n int, _ Seen) int { return n + 1 },
				func(ctx *actor.Context[Where], _ int, msg Where) persistence.Effect[Seen] {
					return persistence.ThenReply(persistence.None[Seen], msg.ReplyTo, singleton.GenerationOf(ctx).String())
				})
		})
	}
}

func spawnMany(node *cluster.Node, singletons int, behavior func(name string) actor.Behavior[Where]) (refs []actor.ActorRef[Where]) {
	for i := range singletons {
		name := fmt.Sprintf("s%d", i)
		refs = append(refs, actor.Spawn(node, behavior(name), name))
	}
	return refs
}

const (
	again  = 50 * time.Millisecond // before a singleton is asked once more
	askers = 5000                  // at once, as a program with many users might have
)

// answers asks all singletons until each has answered with another generation than before, and
// returns the new generations. A request in flight to a host that died fails at once, and is
// repeated.
func answers(ctx context.Context, refs []actor.ActorRef[Where], before []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, errs := make([]string, len(refs)), make([]error, len(refs))
	var all sync.WaitGroup
	tokens := make(chan struct{}, askers)
	for i, ref := range refs {
		tokens <- struct{}{}
		all.Go(func() {
			defer func() { <-tokens }()
			for {
				now[i], errs[i] = whereWithin(ctx, ref)
				if errs[i] == nil && now[i] != before[i] || ctx.Err() != nil {
					return
				}
				time.Sleep(again)
			}
		})
	}
	all.Wait()
	return now, errors.Join(errs...)
}

// whereWithin asks once, and gives up when the reply was lost with a full outbox.
func whereWithin(ctx context.Context, ref actor.ActorRef[Where]) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return where(ctx, ref)
}

// startHost starts a process with the first node of a cluster, which spawns so many
// singletons when it is sent a line.
func startHost(cfg nodeConfig) (*nodeProcess, error) {
	bind, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cfg.Bind, cfg.Seeds = bind, []string{bind}
	host, err := startNode(cfg)
	if err != nil {
		return nil, err
	}
	if _, up := host.Line(); !up {
		return nil, fmt.Errorf("%s has ended: %w", cfg.Name, host.Wait())
	}
	return host, nil
}

// runHost is the main function of that process.
func runHost(ctx context.Context, cfg nodeConfig, told <-chan struct{}) error {
	behavior := idleMany
	if cfg.Database != "" {
		journal, err := sqlite.Open(cfg.Database) //nolint:contextcheck // opening takes no context
		if err != nil {
			return err
		}
		defer journal.Close()
		behavior = fencedMany(journal)
	}
	node, err := cluster.Start(ctx, cluster.Config{Name: "stopwatch", NodeID: cfg.Name, Bind: cfg.Bind, Seeds: cfg.Seeds})
	if err != nil {
		return err
	}
	fmt.Println("up")
	select {
	case <-told:
	case <-ctx.Done():
		return nil
	}
	spawnMany(node, cfg.Singletons, behavior)
	<-ctx.Done()
	return nil
}
