package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
)

// nodeEnv makes a process of this program a node; it holds its nodeConfig as JSON.
const nodeEnv = "UNDERSTUDY_STOPWATCH_NODE"

type nodeConfig struct {
	Name, Bind, Database string
	Seeds                []string
	Singletons           int // many, which do nothing: the node is a host for [many]
}

// A sign is a line that a node prints. It has the generation of the instance that has answered, and
// the state of the node.
type sign struct {
	Generation string
	Here       bool // it runs on this node
	Up         int  // members
}

// Seen is the event of an answer.
type Seen struct{}

func init() { actor.RegisterType[Seen]("stopwatch.seen") }

// fenced is a singleton that writes an event before each answer.
func fenced(journal persistence.Journal) actor.Behavior[Where] {
	return behaviors.Singleton(func() actor.Behavior[Where] {
		return behaviors.EventSourced("fenced", journal, 0,
			func(n int, _ Seen) int { return n + 1 },
			func(ctx *actor.Context[Where], _ int, msg Where) persistence.Effect[Seen] {
				return persistence.ThenReply(persistence.Persist(Seen{}), msg.ReplyTo, singleton.GenerationOf(ctx).String())
			}, persistence.Options[Where, Seen, int]{SnapshotEvery: 200})
	})
}

// beNode runs a node if this process was started as one. The node ends when its standard input
// ends, or when it is killed.
func beNode() bool {
	text, ok := os.LookupEnv(nodeEnv)
	if !ok {
		return false
	}
	var cfg nodeConfig
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		ctx, cancel := context.WithCancel(context.Background())
		told := make(chan struct{})
		go func() {
			lines := bufio.NewScanner(os.Stdin)
			for lines.Scan() {
				close(told) // there is one line at most
			}
			cancel()
		}()
		if cfg.Singletons > 0 {
			err = runHost(ctx, cfg, told)
		} else {
			err = runNode(ctx, cfg)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, cfg.Name, err)
		os.Exit(1)
	}
	return true
}

// runNode asks the singleton again and again, and prints each answer.
func runNode(ctx context.Context, cfg nodeConfig) error {
	journal, err := sqlite.Open(cfg.Database) //nolint:contextcheck // opening takes no context
	if err != nil {
		return err
	}
	defer journal.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "stopwatch", NodeID: cfg.Name, Bind: cfg.Bind, Seeds: cfg.Seeds})
	if err != nil {
		return err
	}
	ref := actor.Spawn(node, fenced(journal), "fenced")
	for out := json.NewEncoder(os.Stdout); ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		generation, err := where(ctx, ref)
		if err != nil {
			return nil // it was told to end
		}
		status, _ := singleton.StatusOf(node.System, "fenced")
		if err := out.Encode(sign{Generation: generation, Here: status.Here, Up: up(node.View())}); err != nil {
			return err
		}
	}
	return nil
}

// A nodeProcess is one process of a node.
type nodeProcess struct {
	*process.Process
	cfg  nodeConfig
	last sign
}

// heard is a sign, when it came, and from which process.
type heard struct {
	sign
	from *nodeProcess
	at   time.Time
}

// startNode runs this program again, as a node.
func startNode(cfg nodeConfig) (*nodeProcess, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(process.Self([]string{nodeEnv + "=" + string(text)}))
	return &nodeProcess{Process: p, cfg: cfg}, err
}

// start starts a node whose signs go to signs.
func start(cfg nodeConfig, signs chan<- heard) (*nodeProcess, error) {
	p, err := startNode(cfg)
	if err != nil {
		return nil, err
	}
	go func() {
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			at := time.Now()
			var s sign
			if json.Unmarshal([]byte(line), &s) == nil { // else the line is torn: it was killed
				signs <- heard{s, p, at}
			}
		}
		_ = p.Wait() // most are killed
	}()
	return p, nil
}

// kill returns how long each of so many failovers took.
func kill(ctx context.Context, times int) (took []time.Duration, err error) {
	dir, err := os.MkdirTemp("", "stopwatch")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing is measured any more
	signs := make(chan heard, 1024)
	var seeds []string
	for range 3 {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, address)
	}
	running := make(map[*nodeProcess]bool)
	defer func() {
		for p := range running {
			_ = p.Signal(os.Kill) // nothing is measured any more
		}
	}()
	for i, bind := range seeds {
		p, err := start(nodeConfig{Name: fmt.Sprintf("n%d", i+1), Bind: bind, Database: filepath.Join(dir, "journal.db"), Seeds: seeds}, signs)
		if err != nil {
			return nil, err
		}
		running[p] = true
	}
	for len(took) < times {
		host, err := settled(ctx, running, signs)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := host.Signal(os.Kill); err != nil {
			return nil, err
		}
		delete(running, host)
		h, err := next(ctx, signs, func(h heard) bool { return running[h.from] && h.Generation != host.last.Generation })
		if err != nil {
			return nil, err
		}
		took = append(took, h.at.Sub(began))
		p, err := start(host.cfg, signs)
		if err != nil {
			return nil, err
		}
		running[p] = true
	}
	return took, nil
}

// calm is how long a cluster must have been complete before its host is killed.
const calm = 2 * time.Second

// settled waits until all nodes have seen three members and one instance for some time, and returns
// the process of the instance.
func settled(ctx context.Context, running map[*nodeProcess]bool, signs <-chan heard) (host *nodeProcess, err error) {
	var since time.Time
	_, err = next(ctx, signs, func(h heard) bool {
		h.from.last = h.sign
		var hosts []*nodeProcess
		whole := true
		for p := range running {
			whole = whole && p.last.Up == len(running) && p.last.Generation == h.Generation
			if p.last.Here {
				hosts = append(hosts, p)
			}
		}
		if !whole || len(hosts) != 1 {
			since = time.Time{}
			return false
		}
		host = hosts[0]
		if since.IsZero() {
			since = h.at
		}
		return h.at.Sub(since) > calm
	})
	return host, err
}

// patience is the limit of each wait.
const patience = time.Minute

// next returns the first sign that matches.
func next(ctx context.Context, signs <-chan heard, match func(heard) bool) (heard, error) {
	limit := time.After(patience)
	for {
		select {
		case h := <-signs:
			if match(h) {
				return h, nil
			}
		case <-limit:
			return heard{}, fmt.Errorf("waited %v in vain", patience)
		case <-ctx.Done():
			return heard{}, context.Cause(ctx)
		}
	}
}
