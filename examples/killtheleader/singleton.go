package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton"
)

// ledgerID is the persistence id of the ledger in the journal.
const ledgerID = "ledger"

// Next asks for a number. After Until nobody waits for it; zero is no limit.
type Next struct {
	Request string
	Until   time.Time
	ReplyTo actor.ActorRef[Issued]
}

// Issued is the event of a number, and the reply.
type Issued struct {
	Number          int64
	Request, Leader string
}

// Last is the state: the last number.
type Last struct{ Number int64 }

func init() {
	actor.RegisterType[Next]("killtheleader.next")
	actor.RegisterType[Issued]("killtheleader.issued")
	actor.RegisterType[Last]("killtheleader.last")
}

func onIssued(_ Last, e Issued) Last { return Last{e.Number} }

// issuing returns the singleton's factory on a node.
func issuing(node string, journal persistence.Journal) func() actor.Behavior[Next] {
	onNext := func(ctx *actor.Context[Next], last Last, msg Next) persistence.Effect[Issued] {
		if !msg.Until.IsZero() && time.Now().After(msg.Until) {
			return persistence.None // as the other opponents, it does not write for a client that has gone
		}
		leader := leaderName(node, singleton.GenerationOf(ctx).String())
		e := Issued{Number: last.Number + 1, Request: msg.Request, Leader: leader}
		return persistence.Persist(e).Then(func() { msg.ReplyTo.Tell(e) })
	}
	return func() actor.Behavior[Next] {
		return behaviors.EventSourced(ledgerID, journal, Last{}, onIssued, onNext,
			persistence.Options[Next, Issued, Last]{SnapshotEvery: 500})
	}
}

// A singletonLedger is a node of Understudy. Each node brings requests to the one instance.
type singletonLedger struct {
	journal *postgres.Journal
	node    *cluster.Node
	ref     actor.ActorRef[Next]
}

// startSingleton starts a member of the cluster.
func startSingleton(ctx context.Context, cfg nodeConfig) (ledger, error) {
	journal, err := postgres.Open(ctx, cfg.Postgres)
	if err != nil {
		return nil, err
	}
	log, err := zap.NewDevelopment(zap.IncreaseLevel(zap.InfoLevel), zap.AddStacktrace(zap.DPanicLevel))
	if err != nil {
		return nil, err
	}
	node, err := cluster.Start(ctx, cluster.Config{
		Name: "ledger", NodeID: cfg.Name, Bind: cfg.Bind, Seeds: cfg.Seeds, Logger: log.Named(cfg.Name),
	})
	if err != nil {
		return nil, err
	}
	issuer := issuing(cfg.Name, &countingJournal{Journal: journal})
	ref := actor.Spawn(node, behaviors.Singleton(issuer), "ledger")
	return &singletonLedger{journal: journal, node: node, ref: ref}, nil
}

func (l *singletonLedger) next(ctx context.Context, request string) (issued, error) {
	until := time.Now().Add(requestLimit)
	reply, err := actor.Ask(ctx, l.ref, func(replyTo actor.ActorRef[Issued]) Next { return Next{request, until, replyTo} })
	if err != nil {
		return issued{}, err
	}
	return issued{Number: reply.Number, Leader: reply.Leader}, nil
}

func (l *singletonLedger) ready() bool {
	up := 0
	for _, m := range l.node.View().Members {
		if m.Status == cluster.Up {
			up++
		}
	}
	return up == nodeCount
}

func (l *singletonLedger) leave(ctx context.Context) error {
	defer l.journal.Close()
	return l.node.Leave(ctx)
}
