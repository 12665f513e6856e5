package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/membership"
)

// Leave ends the node in an orderly way, which is [actor.System.Shutdown] in its phases:
// other members take over its singletons in [actor.ClusterLeave] ([Leaving]), its actors
// are stopped while it is still a member ([Exiting]), so what they say in the end reaches
// other nodes, and in [actor.AfterActors] it is removed, and the ports are closed.
//
// When ctx ends before that, the rest goes without order, and Leave returns an error;
// actors that would not stop can be waited for by calling it again. Leaving again is the
// same as waiting. With the context of an actor it does not wait, like [actor.System.Shutdown].
func (n *Node) Leave(ctx context.Context) error {
	err := n.System.Shutdown(ctx)
	if _, halted := extension.Halted(n.System); halted {
		return errors.Join(err, n.depart(ctx))
	}
	if err != nil && ctx.Err() != nil {
		_ = n.depart(ctx) // what has been left out is in err
	}
	return err
}

// Halt ends the node as its process ends when it is killed, for tests of crashes: see
// [actor.System.Halt]. It says nothing to other nodes, gives back no lease, and returns at
// once. Its ports stay open, so that a test first cuts its network. [Node.Shutdown] after it
// lets go of what is left.
func (n *Node) Halt() {
	extension.Halt(n.System)
	n.abort(ErrEnded)
}

// Shutdown is Leave but for [Leaving]: it hands nothing over, and does not wait for it
// when the node leaves already. Its actors are stopped, and then the others are told that
// it is gone, so they need not find out.
func (n *Node) Shutdown(ctx context.Context) error {
	n.departure.skip()
	return n.Leave(ctx)
}

// OnLeave adds a task to the phase [actor.ServiceRequestsDone] of the shutdown, while this
// node is a member like any other: for what is to be handed over by other means than a
// singleton. It does not run when nothing is to be handed over, see [Node.Shutdown], and
// its context ends when that is decided later. Otherwise it is like a task of
// [actor.System.OnShutdown].
func (n *Node) OnLeave(name string, task func(ctx context.Context) error) (cancel func()) {
	return n.OnShutdown(actor.ServiceRequestsDone, name, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		select {
		case <-n.departure.quick:
			return nil
		default:
		}
		go func() {
			select {
			case <-n.departure.quick:
				cancel()
			case <-ctx.Done():
			}
		}()
		return task(ctx)
	})
}

// A departure is how far the shutdown of a node has come.
type departure struct {
	quick   chan struct{} // closed when nothing is to be handed over
	skip    func()        // closes it
	alone   chan struct{} // closed when others know that its actors stop
	mayStop func()        // closes it
}

func newDeparture() departure {
	p := departure{quick: make(chan struct{}), alone: make(chan struct{})}
	p.skip = sync.OnceFunc(func() { close(p.quick) })
	p.mayStop = sync.OnceFunc(func() { close(p.alone) })
	return p
}

// handOver returns when others have taken over what ran here, and know that actors stop.
func (n *Node) handOver(ctx context.Context) error {
	n.inbox.post(0, membership.LeaveAsked{})
	select {
	case <-n.departure.alone:
	case <-n.departure.quick:
	case <-n.ended:
	case <-ctx.Done():
		return fmt.Errorf("cluster: leave of %s: %w", n.cfg.NodeID, context.Cause(ctx))
	}
	return nil
}

// depart ends membership, and closes the ports: in order, if all actors have ended and
// until ctx ends. It may be called again, and by several goroutines.
func (n *Node) depart(ctx context.Context) error {
	var err error
	if _, halted := extension.Halted(n.System); !halted {
		err = n.leaveMembership(ctx)
	}
	n.abort(ErrEnded)
	<-n.ended
	n.tasks.Wait()
	return errors.Join(err, n.endpoint.Close())
}

// leaveMembership returns when the node is no member any more.
func (n *Node) leaveMembership(ctx context.Context) error {
	n.inbox.post(0, membership.LeaveAsked{})
	if err := n.either(ctx, n.Terminated()); err != nil {
		return err
	}
	if err := n.either(ctx, n.departure.alone); err != nil {
		return err
	}
	n.flush(ctx)
	n.inbox.post(0, membership.Stopped{})
	return n.either(ctx, n.ended)
}

// either waits for done, or for the end of the node, which comes when ctx ends.
func (n *Node) either(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
	case <-n.ended:
	case <-ctx.Done():
		n.abort(fmt.Errorf("cluster: leave of %s: %w", n.cfg.NodeID, context.Cause(ctx)))
		return context.Cause(n.aborted) //nolint:contextcheck // why the node was aborted may be another
	}
	return nil
}

// flushPatience is how long a node waits for others to have what its actors have told
// them in the end.
const flushPatience = time.Second

// flush sees that what actors have said in the end arrives while this node is a member.
func (n *Node) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	if err := n.endpoint.Flush(ctx); err != nil {
		n.log.Debug("not all has been delivered", zap.Error(err))
	}
}

// leaveAlone is Leave for a node without a user who waits for it.
func (n *Node) leaveAlone() {
	if err := n.Leave(context.Background()); err != nil {
		n.log.Warn("node has not ended in order", zap.Error(err))
	}
}
