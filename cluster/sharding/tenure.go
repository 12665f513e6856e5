package sharding

import (
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A leaseTerm is the right of this node to host shards of a type. It lasts while the node has its
// lease. Any goroutine may call its methods.
type leaseTerm struct {
	mu     sync.Mutex // guards all below
	lease  *leaseholder.Holder
	token  uint64 // under which shards may start; 0 for none
	shards int    // that have been admitted, and have not ended
	why    string // why the node does not have it; "" while it has
}

// current returns the token under which shards may start, or 0.
func (t *leaseTerm) current() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token
}

func (t *leaseTerm) begin(l *leaseholder.Holder, token uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lease, t.token, t.why = l, token, ""
}

func (t *leaseTerm) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token, t.why = 0, "lost or given back"
}

// refuse notes why there is no lease.
func (t *leaseTerm) refuse(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = why
}

// state returns what status pages show of the lease.
func (t *leaseTerm) state() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.token != 0:
		return leaseHeld
	case t.why == "":
		return "not acquired yet"
	}
	return t.why
}

// lacks returns why the node has no lease; "" while it has, and before the first answer.
func (t *leaseTerm) lacks() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// admit lets a shard start that was requested under that token. gate returns, before each message
// of an entity, whether that is still in order.
func (t *leaseTerm) admit(token uint64) (gate func() error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if token == 0 || t.token != token || !t.lease.Valid() {
		return nil, errLeaseLost
	}
	t.shards++
	return func() error { return t.check(token) }, nil
}

func (t *leaseTerm) check(token uint64) error {
	t.mu.Lock()
	same, l := t.token == token, t.lease
	t.mu.Unlock()
	if same && l.Valid() {
		return nil
	}
	return errLeaseLost
}

// left notes that an admitted shard has ended.
func (t *leaseTerm) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shards--
}

// vacant reports whether no admitted shard is here any more.
func (t *leaseTerm) vacant() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shards == 0
}

// A leaseKeeper is the actor that keeps the lease of a node for a type.
type leaseKeeper struct {
	ctx         *actor.Context[any]
	node        *cluster.Node
	region      *region
	changed     func() // the token has changed
	lease       *leaseholder.Holder
	incarnation uint64 // of the node as a member; 0 while it is not one
	under       uint64 // the incarnation for which the lease has been acquired
	held        bool   // it has been acquired, and neither been lost nor given back
	busy        bool   // a request is under way
	problem     string // why it was not to be had the last time
}

// The messages to a leaseKeeper.
type (
	leaseAnswered struct {
		quiet
		under uint64
		leaseholder.Answer
	}
	leaseLost struct {
		quiet
		reason error
	}
	leaseGivenBack struct {
		quiet
		err error
	}
	leaseDue  struct{ quiet } // it is time to ask again
	shardLeft struct{ quiet }
)

// leaseRetry is after which time a lease is asked for again.
const leaseRetry = singleton.DefaultLeaseRetry

// keepLease starts the keeper of the lease for a region.
func (c *clustered) keepLease(r *region) actor.ActorRef[any] {
	return actor.Spawn(extension.Framework(c.node.System), func(ctx *actor.Context[any], next *actor.Next[any]) {
		k := &leaseKeeper{ctx: ctx, node: c.node, region: r, changed: func() { c.hub.ref.Tell(helloDue{}) }}
		self := ctx.Self()
		k.lease = leaseholder.New(leaseholder.Config{
			System: c.node.System, User: self.Path(),
			Create: func() (lease.Lease, error) { return leaseOf(c.node.System, r, c.node.View().Self.Name) },
			Lost:   func(reason error) { self.Tell(leaseLost{reason: reason}) },
		})
		ctx.Defer(cluster.Subscribe(c.node, extension.Handle(ctx, func(v cluster.View) actor.Behavior[any] {
			k.follow(v)
			return nil
		})))
		ctx.Defer(k.close)
		next.OnMessage = func(_ *actor.Context[any], msg any) actor.Behavior[any] {
			k.receive(msg)
			return nil
		}
		k.follow(c.node.View())
	}, "sharding-lease:"+escape(r.signature().Name), actor.WithKind(kind))
}

func (k *leaseKeeper) follow(v cluster.View) {
	k.incarnation = shell.IncarnationOf(v.Self)
	k.proceed()
}

func (k *leaseKeeper) receive(msg any) {
	switch msg := msg.(type) {
	case leaseAnswered:
		k.answered(msg)
	case leaseLost:
		k.lost(msg.reason)
	case leaseGivenBack:
		k.busy = false
		k.logKept(msg.err)
	case leaseDue, shardLeft:
	}
	k.proceed()
}

// proceed does what is to be done next. A lease of a former incarnation is given back, and another
// one is acquired, only when no shard is here any more: the others take that as a proof.
func (k *leaseKeeper) proceed() {
	stale := k.held && k.under != k.incarnation
	if stale && k.region.lease().current() != 0 {
		k.stop()
	}
	switch {
	case k.busy || !k.region.lease().vacant() && (stale || !k.held):
	case stale:
		k.giveBack()
	case !k.held && k.incarnation != 0 && !k.ctx.TimerActive("lease"):
		k.acquire()
	}
}

// stop ends the shards here.
func (k *leaseKeeper) stop() {
	k.region.lease().end()
	k.region.breakOff(errLeaseLost)
	k.changed()
}

func (k *leaseKeeper) acquire() {
	k.busy = true
	under, self := k.incarnation, k.ctx.Self()
	k.lease.Acquire(k.ctx, 0, func(a leaseholder.Answer) { self.Tell(leaseAnswered{under: under, Answer: a}) })
}

func (k *leaseKeeper) answered(a leaseAnswered) {
	k.busy = false
	if a.Held {
		k.held, k.under, k.problem = true, a.under, ""
		if a.under == k.incarnation {
			k.region.lease().begin(k.lease, a.Token)
			k.changed()
		}
		return
	}
	why := whyNotHeld(a.Err)
	if why != k.problem {
		k.log("this node has no lease for a type, and hosts none of its entities", zap.String("why", why))
	}
	k.problem = why
	k.region.lease().refuse(why)
	k.ctx.After("lease", leaseRetry, leaseDue{})
}

func (k *leaseKeeper) lost(reason error) {
	if !k.held {
		return // it has been given back meanwhile
	}
	k.log("lease for a type lost: its entities on this node end", zap.Error(reason))
	k.held = false
	k.ctx.After("lease", leaseRetry, leaseDue{})
	k.stop()
}

func (k *leaseKeeper) log(text string, why zap.Field) {
	k.ctx.Log().Warn(text, zap.String("type", k.region.signature().Name), why)
}

// logKept logs why the lease has not been given back, if err is not nil.
func (k *leaseKeeper) logKept(err error) {
	if err != nil {
		k.log("lease for a type not given back; "+k.lease.Outlook(), zap.Error(err))
	}
}

func (k *leaseKeeper) giveBack() {
	k.held, k.busy = false, true
	self := k.ctx.Self()
	k.lease.Release(func(err error) { self.Tell(leaseGivenBack{err: err}) })
}

// close gives the lease back when the system stops, also one that is being acquired, unless an
// entity still runs.
func (k *leaseKeeper) close() {
	k.region.lease().end()
	if !k.region.lease().vacant() {
		k.lease.Abandon()
	}
	k.logKept(k.lease.Close())
}

// whyNotHeld says why a lease was not to be had.
func whyNotHeld(err error) string {
	switch {
	case err == nil:
		return "another has it"
	case errors.Is(err, leaseholder.ErrLost):
		err = errLeaseLost
	}
	return err.Error()
}

// startLeased starts a shard that was requested under a token of the lease.
func (c *clustered) startLeased(r *region, token uint64, start func(gate func() error) actor.ActorRef[shardMsg]) (ref actor.ActorRef[shardMsg], err error) {
	t := r.lease()
	gate, err := t.admit(token)
	if err != nil {
		return ref, fmt.Errorf("%w since it was asked to start the shard", err)
	}
	ref = start(gate)
	keeper := c.keeperOf(r.signature().Name)
	extension.AfterEnd(c.node.System, ref, func() {
		t.left()
		keeper.TellNoWait(shardLeft{})
	})
	return ref, nil
}
