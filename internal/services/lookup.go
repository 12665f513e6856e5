package services

import (
	"context"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// The answer is one message.
const maxAnswer = 10_000

// Lookup asks the node at an address for the instances of a service, at most 10 000, reachable ones
// first. It blocks until the answer comes or ctx ends.
func Lookup(ctx context.Context, s *actor.System, address, service string) ([]Found, error) {
	to := actor.Resolve[any](s, agentAt(s, address))
	a, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[wireAnswer]) any {
		return wireQuery{Service: service, ReplyTo: replyTo}
	})
	return a.Found, err
}

func (d *agent) answer(q wireQuery) {
	var all []Found
	d.services.change(func(r *registry) []envelope {
		all = r.find(q.Service)
		return nil
	})
	for i := range all {
		all[i].Local = false
	}
	if len(all) > maxAnswer {
		slices.SortStableFunc(all, reachableFirst)
		all = all[:maxAnswer]
	}
	q.ReplyTo.Tell(wireAnswer{Found: all})
}

func reachableFirst(a, b Found) int {
	switch {
	case a.Reachable == b.Reachable:
		return 0
	case a.Reachable:
		return -1
	}
	return 1
}
