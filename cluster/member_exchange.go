package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/status"
)

// exchangeLast is how long the last answer of a member that does not answer is shown.
const exchangeLast = 5 * time.Second

// A memberExchange tells other nodes the T of this node for their status pages, and collects
// theirs. Nodes ask each other only while somebody looks at such a page.
type memberExchange[T any] struct {
	node    *Node
	feature protocol.Feature // of the nodes that answer
	name    string           // of the actor that answers on each node, below /system
	own     func() T
	answers status.OnDemand[map[remote.NodeID]memberAnswer[T]]
}

type memberAsked[T any] struct {
	_       struct{} `cbor:",toarray"`
	ReplyTo actor.ActorRef[T]
}

type memberAnswer[T any] struct {
	told T
	at   time.Time
}

func (e *memberExchange[T]) serve() {
	actor.Spawn(extension.Framework(e.node.System), func(_ *actor.Context[memberAsked[T]], next *actor.Next[memberAsked[T]]) {
		next.OnMessage = func(_ *actor.Context[memberAsked[T]], asked memberAsked[T]) actor.Behavior[memberAsked[T]] {
			asked.ReplyTo.Tell(e.own())
			return nil
		}
	}, e.name)
}

// refresh asks the reachable members and waits up to [status.Patience] for the answers. If the last
// answers are new enough, it returns at once.
func (e *memberExchange[T]) refresh(ctx context.Context) {
	e.answers.Refresh(ctx, func() func(map[remote.NodeID]memberAnswer[T]) map[remote.NodeID]memberAnswer[T] {
		return withAnswers(e.collect(ctx))
	})
}

func (e *memberExchange[T]) collect(ctx context.Context) map[remote.NodeID]T {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), status.Patience) // others wait
	defer cancel()
	defer context.AfterFunc(e.node.aborted, cancel)() //nolint:contextcheck // it ends with the node, too
	var (
		asks    sync.WaitGroup
		mu      sync.Mutex // guards answers
		answers = map[remote.NodeID]T{}
	)
	s, v := e.node.System, e.node.View()
	for _, m := range v.Members {
		if m.Status >= Down || m.ID() == v.Self.ID() || !v.Reachable(m) || !peers.Have(s, m.ID(), e.feature) {
			continue
		}
		asks.Go(func() {
			to := actor.Resolve[memberAsked[T]](s, "understudy://"+s.Name()+"@"+m.Address+"/system/"+e.name)
			told, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[T]) memberAsked[T] { return memberAsked[T]{ReplyTo: replyTo} })
			if err != nil {
				return // the page does without
			}
			mu.Lock()
			defer mu.Unlock()
			answers[m.ID()] = told
		})
	}
	asks.Wait()
	return answers
}

func withAnswers[T any](answers map[remote.NodeID]T) func(old map[remote.NodeID]memberAnswer[T]) map[remote.NodeID]memberAnswer[T] {
	return func(old map[remote.NodeID]memberAnswer[T]) map[remote.NodeID]memberAnswer[T] {
		now, all := time.Now(), map[remote.NodeID]memberAnswer[T]{}
		for id, a := range old {
			if now.Sub(a.at) < exchangeLast {
				all[id] = a
			}
		}
		for id, told := range answers {
			all[id] = memberAnswer[T]{told, now}
		}
		return all
	}
}

func (e *memberExchange[T]) known() map[remote.NodeID]T {
	all := map[remote.NodeID]T{}
	for id, a := range e.answers.Read() {
		all[id] = a.told
	}
	return all
}
