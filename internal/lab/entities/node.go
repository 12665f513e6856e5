package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// nodeEnv makes a process of this program a node; it holds its nodeConfig as JSON.
const nodeEnv = "UNDERSTUDY_ENTITIES_NODE"

// A nodeConfig is the configuration of a node.
type nodeConfig struct {
	Name, Bind string
	Seeds      []string
	Database   string // of the journal; "" for entities without one
}

// A memory is how much a node uses.
type memory struct {
	Heap     int64 // bytes in use
	Resident int64 // bytes, for the kernel
	Awake    int   // entities
}

// A Question asks an entity on which node it is.
type Question struct{ ReplyTo actor.ActorRef[string] }

// An Answered is the event of an answer.
type Answered struct{}

func init() {
	actor.RegisterType[Question]("entities.question")
	actor.RegisterType[Answered]("entities.answered")
}

// inMemory is an entity that answers, and has no state.
func inMemory(node string) actor.Behavior[Question] {
	return behaviors.Receive(func(_ *actor.Context[Question], q Question) actor.Behavior[Question] {
		q.ReplyTo.Tell(node)
		return nil
	})
}

// stored is an entity that stores an event before it answers.
func stored(e sharding.Entity, journal persistence.Journal, node string) actor.Behavior[Question] {
	return behaviors.EventSourced(e.PersistenceID(), journal, 0,
		func(n int, _ Answered) int { return n + 1 },
		func(_ *actor.Context[Question], _ int, q Question) persistence.Effect[Answered] {
			return persistence.ThenReply(persistence.Persist(Answered{}), q.ReplyTo, node)
		})
}

// startRegion starts a node of the cluster.
func startRegion(ctx context.Context, cfg nodeConfig, opts ...sharding.Option) (node *cluster.Node, r *sharding.Region[Question], end func(), err error) {
	settings := cluster.Config{Name: "entities", NodeID: cfg.Name, Bind: cfg.Bind, Seeds: cfg.Seeds, Logger: zap.NewNop()}
	factory, end := func(sharding.Entity) actor.Behavior[Question] { return inMemory(cfg.Name) }, func() {}
	opts = append(opts, sharding.PassivateAfter(0))
	if cfg.Database != "" {
		journal, err := sqlite.Open(cfg.Database) //nolint:contextcheck // opening takes no context
		if err != nil {
			return nil, nil, nil, err
		}
		end = func() { _ = journal.Close() } // the node has ended
		factory = func(e sharding.Entity) actor.Behavior[Question] { return stored(e, journal, cfg.Name) }
		settings.Journal = journal
	}
	if node, err = cluster.Start(ctx, settings); err != nil {
		end()
		return nil, nil, nil, err
	}
	r, err = sharding.Start(node, "door", factory, opts...)
	return node, r, end, err
}

// beNode runs a node if this process was started as one. The node prints how much memory it uses
// for each line of its standard input, and ends when that ends.
func beNode() bool {
	text, ok := os.LookupEnv(nodeEnv)
	if !ok {
		return false
	}
	if err := runNode(context.Background(), text); err != nil {
		fmt.Fprintln(os.Stderr, "entities:", err)
		os.Exit(1)
	}
	return true
}

func runNode(ctx context.Context, text string) error {
	var cfg nodeConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	node, r, end, err := startRegion(ctx, cfg)
	if err != nil {
		return err
	}
	defer end()
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		m := memory{Heap: heap(), Awake: r.Stats().Awake}
		if m.Resident, err = resident(); err != nil {
			return err
		}
		if err := out.Encode(m); err != nil {
			return err
		}
	}
	return node.Shutdown(ctx)
}

// resident returns how much of this process is in memory.
func resident() (bytes int64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscanf(rest, "%d kB", &bytes)
	return bytes << 10, err
}
