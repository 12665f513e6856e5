package cluster

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
)

// A memberQuestion is what the nodes of a cluster ask each other for their status pages.
type memberQuestion[Q, R any] struct {
	feature protocol.Feature // of the nodes that answer
	name    string           // of the actor that answers on each node, below /system
	ask     func(replyTo actor.ActorRef[R]) Q
}

// askMembers asks the reachable members, each once, and waits up to figuresPatience for their
// answers. It returns those that have come. The end of aborted ends the wait as well.
func askMembers[Q, R any](ctx, aborted context.Context, s *actor.System, v View, q memberQuestion[Q, R]) map[ID]R {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figuresPatience) // others wait
	defer cancel()
	defer context.AfterFunc(aborted, cancel)() //nolint:contextcheck // it ends with the node, too
	var (
		asks    sync.WaitGroup
		mu      sync.Mutex // guards answers
		answers = map[ID]R{}
	)
	for _, m := range v.Members {
		if m.Status >= Down || m.ID() == v.Self.ID() || !v.Reachable(m) || !peers.Have(s, m.ID(), q.feature) {
			continue
		}
		asks.Go(func() {
			to := actor.Resolve[Q](s, "understudy://"+s.Name()+"@"+m.Address+"/system/"+q.name)
			told, err := actor.Ask(ctx, to, q.ask)
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
