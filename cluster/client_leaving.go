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
// proxies send to other members. All members know by then that it leaves, but a client hears of it
// from one of them, perhaps only after this node has ended.
func tellClients(n *Node) {
	ctx, cancel := context.WithTimeout(n.aborted, clientPatience)
	defer cancel()
	self := n.View().Self
	if self.Status < Leaving || self.Status >= Down {
		return
	}
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
}
