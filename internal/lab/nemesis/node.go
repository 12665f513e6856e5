//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// nodeEnv makes a process of this program a node; it holds its nodeConfig as JSON.
const nodeEnv = "UNDERSTUDY_NEMESIS_NODE"

// leaveLimit is how long a node may take to leave.
const leaveLimit = 45 * time.Second

// A nodeConfig is the configuration of a node's process.
type nodeConfig struct {
	Cluster  string
	Name     string
	Place    string // the place of the network where it is
	Process  string // Name, and which process of it
	Bind     string
	Seeds    []string
	Dir      string // of the sockets
	Database string
	Ticks    string // the file into which its tickers write
	Leased   string // the file into which those write that hold a lease
	Stalls   string // the file for the times in which it was held up
	Leases   string // the address of the lease store
	Events   string // the file into which it writes cluster events
	Lists    bool   // it hosts lists
	Trips    string // the file into which it writes the executions of steps of runs; "" if it hosts no runs
	Began    time.Duration
	Secret   []byte    // nil for none
	Identity *identity // nil for none
}

// beNode runs a node if this process was started as one.
func beNode() bool {
	text, ok := os.LookupEnv(nodeEnv)
	if !ok {
		return false
	}
	var cfg nodeConfig
	err := json.Unmarshal([]byte(text), &cfg)
	began = cfg.Began
	if err == nil {
		err = runNode(context.Background(), cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "node has failed:", err)
		os.Exit(1)
	}
	return true
}

// A nodeProcess answers the requests of the harness.
type nodeProcess struct {
	node     *cluster.Node
	ledger   actor.ActorRef[LedgerMsg]
	register actor.ActorRef[Operate]
	lists    *sharding.Region[Visit]    // nil for none
	trips    *workflow.Type[Trip, Bill] // nil for none
	name     string
	left     chan error
}

// runNode starts a node, and returns when it was asked to leave and has done so.
func runNode(ctx context.Context, cfg nodeConfig) error {
	log, err := logger(cfg.Process)
	if err != nil {
		return err
	}
	ticks, err := os.Create(cfg.Ticks)
	if err != nil {
		return err
	}
	defer ticks.Close()
	events, err := os.Create(cfg.Events)
	if err != nil {
		return err
	}
	defer events.Close()
	leasedTicks, err := os.Create(cfg.Leased)
	if err != nil {
		return err
	}
	defer leasedTicks.Close()
	stalls, err := os.Create(cfg.Stalls)
	if err != nil {
		return err
	}
	defer stalls.Close()
	go writeStalls(ctx, stalls) // until the process ends
	end, err := lease.New(leaseClient{cfg.Leases}, leasedName, cfg.Process, lease.Settings{TTL: leaseTTL})
	if err != nil {
		return err
	}
	journal, err := sqlite.Open(cfg.Database, sqlite.ContinueStopped()) //nolint:contextcheck // opening takes no context
	if err != nil {
		return err
	}
	defer journal.Close()
	settings := cluster.Config{
		Name: cfg.Cluster, NodeID: cfg.Name, Bind: cfg.Bind, Seeds: cfg.Seeds, Secret: cfg.Secret, Journal: journal, Logger: log,
	}
	if settings.TLS, err = cfg.Identity.config(); err != nil {
		return err
	}
	node, err := cluster.Start(ctx, settings)
	if err != nil {
		return err
	}
	var telling sync.WaitGroup
	telling.Go(func() { writeEvents(node.Events(ctx), events) })
	n := &nodeProcess{node: node, name: cfg.Name, left: make(chan error)}
	n.ledger = actor.Spawn(node, ledger(journal), ledgerID)
	n.register = actor.Spawn(node, register(journal), registerID)
	actor.Spawn(node, ticker(ticks), tickerName)            //nolint:contextcheck // each actor has its own
	actor.Spawn(node, leased(leasedTicks, end), leasedName) //nolint:contextcheck // each actor has its own
	if cfg.Lists {
		if n.lists, err = startLists(node, journal); err != nil { //nolint:contextcheck // each actor has its own
			return err
		}
	}
	if cfg.Trips != "" {
		d, err := openDiary(cfg.Trips, cfg.Process)
		if err != nil {
			return err
		}
		defer d.Close()
		if n.trips, err = startTrips(node, newClerk(d, agencySocket(cfg.Dir))); err != nil { //nolint:contextcheck // each actor has its own
			return err
		}
	}
	socket := socketPath(cfg.Dir, cfg.Name)
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) { // of a process that was killed
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	go n.serve(ctx, l)
	err = errors.Join(<-n.left, l.Close())
	telling.Wait() // the node has ended
	return err
}

// logger writes to standard error, which the harness keeps.
func logger(process string) (*zap.Logger, error) {
	cfg := zap.NewDevelopmentConfig()
	cfg.Level = zap.NewAtomicLevelAt(zap.DebugLevel)
	cfg.DisableCaller, cfg.DisableStacktrace = true, true
	cfg.EncoderConfig.EncodeTime = func(_ time.Time, enc zapcore.PrimitiveArrayEncoder) {
		enc.AppendString(fmt.Sprintf("%.3f", clock().Seconds()))
	}
	log, err := cfg.Build()
	if err != nil {
		return nil, err
	}
	return log.Named(process), nil
}

func (n *nodeProcess) serve(ctx context.Context, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // it is closed in the end
		}
		go n.converse(ctx, conn)
	}
}

func (n *nodeProcess) converse(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	var r Request
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return // the client was killed, or has timed out
	}
	reply, err := n.answer(ctx, r)
	if err != nil {
		reply.Error = err.Error()
	}
	_ = json.NewEncoder(conn).Encode(reply) // the client may have timed out
}

func (n *nodeProcess) answer(ctx context.Context, r Request) (reply Reply, err error) {
	switch {
	case r.Add != nil:
		var receipt Receipt
		receipt, err = actor.AskTimeout(ctx, n.ledger, patience, func(replyTo actor.ActorRef[Receipt]) LedgerMsg { return Add{*r.Add, replyTo} })
		reply.Receipt = &receipt
	case r.Look:
		var sum Sum
		sum, err = actor.AskTimeout(ctx, n.ledger, patience, func(replyTo actor.ActorRef[Sum]) LedgerMsg { return Look{replyTo} })
		reply.Sum = &sum
	case r.Operate != nil:
		var answer Answer
		answer, err = actor.AskTimeout(ctx, n.register, patience, func(replyTo actor.ActorRef[Answer]) Operate { return Operate{*r.Operate, replyTo} })
		reply.Answer = &answer
	case r.Visit != nil && n.lists != nil:
		var content Content
		content, err = actor.AskTimeout(ctx, n.lists.Ref(r.Visit.List), r.Visit.Patience, func(replyTo actor.ActorRef[Content]) Visit { return Visit{r.Visit.Entry, replyTo} })
		reply.Content = &content
	case r.Trip != nil && n.trips != nil:
		var said TripReply
		said, err = askTrip(ctx, n.trips, *r.Trip)
		reply.Trip = &said
	case r.Status:
		reply.Status = n.status()
	case r.Leave:
		go n.leave(ctx)
	}
	return reply, err
}

func (n *nodeProcess) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	n.left <- n.node.Leave(ctx)
}

func (n *nodeProcess) status() *Status {
	v := n.node.View()
	s := &Status{Node: n.name, Incarnation: v.Self.Incarnation, Unreachable: len(v.Unreachable()), Converged: v.Converged}
	for _, m := range v.Members {
		s.Members = append(s.Members, fmt.Sprintf("%v %v", m.ID(), m.Status))
		if m.Status == cluster.Up {
			s.Up++
		}
	}
	if leader, ok := v.Leader(); ok {
		s.Leader = leader.Name
	}
	if status, ok := singleton.StatusOf(n.node.System, ledgerID); ok {
		s.Ledger = status.Here
	}
	if status, ok := singleton.StatusOf(n.node.System, registerID); ok {
		s.Register = status.Here
	}
	if status, ok := singleton.StatusOf(n.node.System, tickerName); ok {
		s.Ticker = status.Here
	}
	if status, ok := singleton.StatusOf(n.node.System, leasedName); ok {
		s.Leased = status.Here
	}
	if n.lists != nil {
		for _, shard := range n.lists.Stats().Shards {
			if shard.Here {
				s.Shards++
			}
		}
	}
	return s
}
