package cluster

import "github.com/understudy-go/understudy/actor"

// Subscribe calls handle with the current view of n. After each change it calls handle with the
// newest view, each view once. handle runs inside the actor, in order with its messages, and
// returns the next behavior, or nil for the same. [View.Since] returns the events between two
// views.
//
// At most one view waits in the actor's mailbox, whatever the bound of the mailbox. A newer view
// replaces a waiting one, so a slow actor misses views, but never the newest.
//
// The subscription ends when the current incarnation of the actor ends, as with
// actor.Context.Defer, so subscribe in the function that sets up the behavior. After the end of the
// node there are no more views. n may be any node, not only the one on which the actor runs.
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
