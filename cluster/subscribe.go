package cluster

import "github.com/understudy-go/understudy/actor"

// Subscribe tells an actor how the cluster of n stands: handle gets the view as it is
// now, and then the newest whenever it has changed, each once. handle runs inside the
// actor, in its place among the messages, and returns the next behavior, nil for the
// same. What has changed in between is in [View.Since].
//
// While the actor has not come to handle one, newer views take its place, so that a slow
// actor skips some, but never the newest, and no more than one ever waits, whatever the
// bound of the mailbox. The subscription ends when what the actor is now comes to its
// end, as with actor.Context.Defer: so subscribe where the behavior begins. When the node
// has ended there are no more views. It may be any node, not only that of the actor.
func Subscribe[M any](ctx *actor.Context[M], n *Node, handle func(View) actor.Behavior[M]) {
	subscribe(ctx, n.views, handle)
}

func subscribe[M any](ctx *actor.Context[M], views *viewPublisher, handle func(View) actor.Behavior[M]) {
	var seen uint64
	begun := false
	notify := ctx.Notify(func() actor.Behavior[M] {
		v, _, _ := views.read()
		if begun && v.Version <= seen {
			return nil
		}
		begun, seen = true, v.Version
		return handle(v)
	})
	ctx.Defer(views.listen(notify))
	notify()
}
