package cluster

import (
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// Subscribe sends ref the views of n: the current one immediately, and the newest whenever it has
// changed, each once. While ref has not handled one, newer views replace it, so that no more than
// one ever waits, whatever the bound of the mailbox. A slow actor misses views, but never the
// newest. [View.Since] returns the events between two views.
//
// The subscription ends when its actor ends or cancel is called, which may be repeated. After the
// end of the node there are no more views. An actor that subscribes an [actor.Adapt] when it starts
// cancels the subscription when it restarts:
//
//	ctx.Defer(cluster.Subscribe(node, actor.Adapt(ctx, wrap)))
//
// n may be any node of the process, not only the one on which the actor runs. Subscribe panics if
// ref is not an actor of the process.
func Subscribe(n *Node, ref actor.ActorRef[View]) (cancel func()) {
	return n.views.subscribe(n.System, ref)
}

// subscribe sends an actor of this process the current view and the newest one after each change.
func (b *viewPublisher) subscribe(s *actor.System, ref actor.ActorRef[View]) (cancel func()) {
	var seen uint64
	var begun bool
	var over atomic.Bool
	notify := extension.TellLatest(ref, func() (View, bool) {
		v, _, _ := b.read()
		if over.Load() || begun && v.Version <= seen {
			return View{}, false
		}
		begun, seen = true, v.Version
		return v, true
	})
	forget := b.listen(notify)
	end := sync.OnceFunc(func() {
		over.Store(true)
		forget()
	})
	stop := extension.AfterEnd(s, ref, end)
	notify()
	return func() {
		stop()
		end()
	}
}
