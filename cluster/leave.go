package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/extension"
)

// Leave ends the node in an orderly way, in the phases of [actor.System.Shutdown]. In
// [actor.ServiceUnbind] it waits, for a second at most, until its clients send to other members.
// In [actor.ClusterLeave], other members take over its singletons ([Leaving]). Then its actors stop
// while it is still a member ([Exiting]), so their last messages reach other nodes. In
// [actor.AfterActors] it is removed, and its ports are closed. [actor.System.ShutdownOnSignal] of a
// node does the same on a signal.
//
// If ctx ends first, Leave does the rest without that order and returns an error; call it again to
// wait for actors that have not stopped. Further calls, also concurrent ones, wait for the same
// end. With the context of an actor it does not wait, like [actor.System.Shutdown].
func (n *Node) Leave(ctx context.Context) error {
	err := n.System.Shutdown(ctx)
	if _, halted := extension.Halted(n.System); halted {
		return errors.Join(err, n.depart(ctx))
	}
	if err != nil && ctx.Err() != nil {
		_ = n.depart(ctx) // err says what was left out
	}
	return err
}

// Halt ends the node like a killed process, for tests of crashes; see clustertest.Cluster.Crash. It
// sends nothing to other nodes, releases no lease, and returns at once. The ports stay open, so a
// test cuts the network of the node first. Call [Node.Shutdown] afterwards to free the rest.
func (n *Node) Halt() {
	extension.Halt(n.System)
	n.abort(ErrEnded)
}

// Shutdown stops the node without handing over singletons, and ends a hand-over that Leave has
// begun. It stops the actors and then notifies the other members, so they need not detect it. It
// blocks as [Node.Leave] does, which is for planned shutdowns. It is not the Shutdown of the node's
// System, which is Leave.
func (n *Node) Shutdown(ctx context.Context) error {
	n.departure.skip()
	return n.Leave(ctx)
}

// OnLeave adds a task to the phase [actor.ServiceRequestsDone] of the shutdown, in which this node
// is still a full member. Use it to hand over what is not a singleton. The task does not run if the
// shutdown hands nothing over (see [Node.Shutdown]), and its context ends if that is decided later.
// Otherwise it is like a task of [actor.System.OnShutdown].
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

type departure struct {
	quick   chan struct{} // closed when nothing is handed over any more
	skip    func()        // closes quick
	alone   chan struct{} // closed when the others know that its actors stop
	mayStop func()        // closes alone
}

func newDeparture() departure {
	p := departure{quick: make(chan struct{}), alone: make(chan struct{})}
	p.skip = sync.OnceFunc(func() { close(p.quick) })
	p.mayStop = sync.OnceFunc(func() { close(p.alone) })
	return p
}

// handOver returns when others have taken over the singletons, and know that the actors stop.
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

// depart ends the membership and closes the ports. It does so in order if all actors end before ctx
// does. It may be called again, and by several goroutines.
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

// either waits for done or for the end of the node. If ctx ends first, it aborts the node.
func (n *Node) either(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
	case <-n.ended:
	case <-ctx.Done():
		n.abort(fmt.Errorf("cluster: leave of %s: %w", n.cfg.NodeID, context.Cause(ctx)))
		return context.Cause(n.aborted) //nolint:contextcheck // aborted earlier, maybe
	}
	return nil
}

// flushPatience is how long a node waits until others have received the last messages of its
// actors.
const flushPatience = time.Second

func (n *Node) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	if err := n.endpoint.Flush(ctx); err != nil {
		n.log.Debug("not all has been delivered", zap.Error(err))
	}
}

// leaveAlone calls Leave when no caller waits for it, and logs the error.
func (n *Node) leaveAlone() {
	if err := n.Leave(context.Background()); err != nil {
		n.log.Warn("node has not ended in order", zap.Error(err))
	}
}
