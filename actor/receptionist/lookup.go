package receptionist

import (
	"context"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// The answer is one message.
const maxAnswer = 10_000

// Lookup asks the node at address ("host:port") for the instances of a service. It is for systems
// that are not members of the cluster; members use [Find], which does not ask. In the listing Local
// is false. A listing has at most 10 000 instances, reachable ones first.
//
// Lookup blocks until the answer comes. When ctx ends first, it returns an error that wraps
// ctx.Err().
func Lookup[M any](ctx context.Context, s *actor.System, address string, key ServiceKey[M]) (Listing[M], error) {
	to := actor.Resolve[any](s, agentAt(s, address))
	a, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[wireAnswer]) any {
		return wireQuery{Service: key.name, ReplyTo: replyTo}
	})
	if err != nil {
		return Listing[M]{Key: key}, fmt.Errorf("receptionist: look up service %q at %s: %w", key.name, address, err)
	}
	return newListing(key.name, a.Found, func(f found) actor.ActorRef[M] { return actor.Resolve[M](s, f.Entry.Ref) }), nil
}

func (d *agent) answer(q wireQuery) {
	var all []found
	d.receptionist.change(func(r *registry) []envelope {
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

func reachableFirst(a, b found) int {
	switch {
	case a.Reachable == b.Reachable:
		return 0
	case a.Reachable:
		return -1
	}
	return 1
}
