package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
)

// many measures a cluster of three nodes with so many singletons on each: how long after
// they are spawned the last of them has answered, and how long after SIGKILL of the process
// that hosts them all the last has answered again, from another node. The host is a process
// of its own; the other two nodes are in this one.
func many(ctx context.Context, singletons int) error {
	host, spawn, err := startHost(singletons)
	if err != nil {
		return err
	}
	defer func() { _ = host.cmd.Process.Kill() }() // nothing is measured any more
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
	if err := spawn(); err != nil {
		return err
	}
	for i := range r.nodes {
		r.nodes[i].refs = spawnMany(r.nodes[i].Node, singletons)
	}
	fmt.Printf("%-46s %8s\n", fmt.Sprintf("%d singletons, spawned", singletons), ms(time.Since(began)))
	before, err := answers(ctx, r.nodes[1].refs, make([]string, singletons))
	if err != nil {
		return err
	}
	fmt.Printf("%-46s %8s\n", "… and each has answered", ms(time.Since(began)))
	time.Sleep(calm)
	began = time.Now()
	if err := host.cmd.Process.Kill(); err != nil {
		return err
	}
	if _, err := answers(ctx, r.nodes[1].refs, before); err != nil {
		return err
	}
	fmt.Printf("%-46s %8s\n", "SIGKILL of their host, to the last one's reply", ms(time.Since(began)))
	return nil
}

func spawnMany(node *cluster.Node, singletons int) (refs []actor.ActorRef[Where]) {
	for i := range singletons {
		refs = append(refs, actor.Spawn(node, behaviors.Singleton(idle), fmt.Sprintf("s%d", i)))
	}
	return refs
}

// answers asks all singletons until each has answered by another generation than before, and
// returns which those are.
func answers(ctx context.Context, refs []actor.ActorRef[Where], before []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, errs := make([]string, len(refs)), make([]error, len(refs))
	var all sync.WaitGroup
	for i, ref := range refs {
		all.Go(func() {
			for now[i] = before[i]; now[i] == before[i] && errs[i] == nil; {
				now[i], errs[i] = actor.Ask(ctx, ref, func(replyTo actor.ActorRef[string]) Where { return Where{replyTo} })
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return now, nil
}

// startHost starts a process with the first node of a cluster, which spawns so many
// singletons when it is told to.
func startHost(singletons int) (host *process, spawn func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	bind, err := freeAddress()
	if err != nil {
		return nil, nil, err
	}
	cfg := nodeConfig{Name: "n1", Bind: bind, Seeds: []string{bind}, Singletons: singletons}
	host = &process{cfg: cfg, cmd: exec.Command(self)}
	if err := host.becomeNode(); err != nil {
		return nil, nil, err
	}
	out, err := host.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	input, err := host.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	host.input = input
	if err := host.cmd.Start(); err != nil {
		return nil, nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it is up
		return nil, nil, err
	}
	return host, func() error { _, err := io.WriteString(input, "spawn\n"); return err }, nil
}

// runHost is the life of that process.
func runHost(ctx context.Context, cfg nodeConfig, told <-chan struct{}) error {
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
	spawnMany(node, cfg.Singletons)
	<-ctx.Done()
	return nil
}
