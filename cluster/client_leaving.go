package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// clientPatience is how long a node that leaves waits for its clients. One that answers later may
// lose what it has sent to this node meanwhile.
const clientPatience = time.Second

// tellClients tells all clients that are connected that this node leaves, and returns when their
// proxies send to other members. It comes first: what clients have sent before is passed on while
// shards move and singletons are handed over. A client would hear from another member that this one
// leaves, but perhaps only after this node has ended.
func tellClients(ctx context.Context, n *Node) error {
	self := n.View().Self
	if self.Status < Joining || self.Status >= Down || isClosed(n.departure.quick) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clientPatience)
	defer cancel()
	var told sync.WaitGroup
	for _, address := range n.endpoint.Outbound() {
		client := actor.Resolve[contactNews](n.System, "understudy://"+n.Name()+"@"+address+newsPath)
		told.Go(func() {
			// An error means that the client has ended or does not answer: nothing is left to do.
			_, _ = actor.Ask(ctx, client, func(answer actor.ActorRef[bool]) contactNews {
				return contactNews{From: self.ID(), Leaves: answer}
			})
		})
	}
	told.Wait()
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
