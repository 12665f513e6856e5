// Command orchestrator serves files from volumes that only some nodes have, and continues when
// these nodes die.
//
//	go run ./examples/orchestrator
//
// This process is the gateway, which leads. Two stores are separate processes; one has the volume
// "photos", the other the volume "docs". The coordinator runs a storage agent on the node of each
// volume, and the gateway lists directories and reads files by the agents' labels. Then one store
// is killed and started again: its agent waits for it. The other one is killed for good: its agent
// moves to the next node that has the volume.
//
// The specs are in a journal that all nodes share, here an SQLite database in a temporary
// directory, so another gateway could continue where this one stopped.
//
// The agents are in storage.go, the configuration of a node in node.go, the events in story.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

func main() {
	name := flag.String("node", gatewayNode, "run as the store of this name (used by the program itself)")
	seeds := flag.String("seeds", "", "address of the gateway")
	journal := flag.String("journal", "", "path of the SQLite database")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var err error
	if *name == gatewayNode {
		err = runGateway(ctx, os.Stdout)
	} else {
		err = runStore(ctx, *name, *seeds, *journal, os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "orchestrator:", err)
		os.Exit(1)
	}
}

// runGateway runs the process of the gateway and the story.
func runGateway(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "orchestrator")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "journal.db")
	journal, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer journal.Close()
	cfg := cluster.Config{Name: "orchestrator", NodeID: gatewayNode, Journal: journal}
	equip(&cfg)
	node, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer node.Leave(context.WithoutCancel(ctx))
	coordinator, err := takePart(node)
	if err != nil {
		return err
	}
	p := &processes{seeds: node.Address(), journal: path, running: map[string]*process{}}
	defer func() { err = errors.Join(err, p.close()) }()
	s := &story{node: node, coordinator: coordinator, stores: p, out: out}
	return s.tell(ctx)
}

// runStore runs the process of a store. It leaves when its standard input ends.
func runStore(ctx context.Context, name, seeds, path string, input io.Reader) error {
	journal, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer journal.Close()
	cfg := cluster.Config{Name: "orchestrator", NodeID: name, Seeds: []string{seeds}, Journal: journal}
	equip(&cfg)
	node, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	if _, err := takePart(node); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, input) // until the gateway closes it, or dies
	return node.Leave(ctx)
}
