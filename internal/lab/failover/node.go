package failover

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

// runNode is the process of one node: a member of the cluster with the counter, clients
// that send to it, and a director at the other end of standard input and output.
func runNode(ctx context.Context, s settings) error {
	out := newReporter(os.Stdout)
	opened, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer opened.Close()
	journal := &reportingJournal{opened, out}
	node, err := cluster.Start(ctx, cluster.Config{Name: "failover", NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Logger: logger(s.node)})
	if err != nil {
		return err
	}
	n := &nodeProcess{node: node, out: out, crew: newCrew()}
	n.counter = actor.Spawn(node, behaviors.Singleton(counted(&n.handled, counter(s.id, journal))), "counter")
	run := fmt.Sprintf("%s.%x", s.node, node.View().Self.Incarnation) // clients of another run have other names
	n.crew.start(ctx, run, n.counter, func(a Ack) { out.send(report{Ack: &a, Stats: n.stats()}) })
	go n.reportStats(ctx)
	return n.obey(ctx, os.Stdin)
}

// logger writes to standard error. The director keeps it, and prints it after a failure.
func logger(name string) *zap.Logger {
	log, err := zap.NewDevelopment(zap.IncreaseLevel(zap.InfoLevel), zap.AddStacktrace(zap.DPanicLevel))
	if err != nil {
		return zap.NewNop()
	}
	return log.Named(name)
}

type nodeProcess struct {
	node    *cluster.Node
	out     *reporter
	counter actor.ActorRef[Msg]
	crew    *crew
	handled atomic.Uint64
}

// obey carries out the director's orders until the input is closed. The process then ends without
// leaving the cluster, because the director did not order it to leave.
func (n *nodeProcess) obey(ctx context.Context, in io.Reader) error {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch order := strings.TrimSpace(lines.Text()); order {
		case orderFinish:
			n.crew.finish()
			n.out.send(report{Stopped: true})
		case orderFinal:
			final, err := actor.Ask(ctx, n.counter, func(replyTo actor.ActorRef[Counted]) Msg { return Get{replyTo} })
			if err != nil {
				return err
			}
			n.out.send(report{Final: &final})
		case orderLeave:
			n.crew.finish()
			return n.node.Leave(ctx)
		default:
			return fmt.Errorf("unknown order %q", order)
		}
	}
	return errors.New("the director has gone")
}

// reportStats sends the figures a few times a second.
func (n *nodeProcess) reportStats(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
			n.out.send(report{Stats: n.stats()})
		}
	}
}

func (n *nodeProcess) stats() *stats {
	view := n.node.View()
	s := &stats{
		Incarnation: view.Self.Incarnation, Sent: n.crew.sent.Load(),
		Handled: n.handled.Load(), DeadLettered: n.node.DeadLetters(),
	}
	for _, m := range view.Members {
		if m.Status == cluster.Up {
			s.Members++
		}
	}
	if status, ok := singleton.StatusOf(n.node.System, "counter"); ok {
		s.Here, s.Generation, s.Buffered = status.Here, status.Generation.String(), status.Kept
	}
	return s
}

// counted counts the messages that the factory's instances handle.
func counted(n *atomic.Uint64, factory func() actor.Behavior[Msg]) func() actor.Behavior[Msg] {
	return func() actor.Behavior[Msg] {
		inner := factory()
		return func(ctx *actor.Context[Msg], next *actor.Next[Msg]) {
			inner(ctx, next)
			if handle := next.OnMessage; handle != nil {
				next.OnMessage = func(ctx *actor.Context[Msg], msg Msg) actor.Behavior[Msg] {
					n.Add(1)
					return handle(ctx, msg)
				}
			}
		}
	}
}
