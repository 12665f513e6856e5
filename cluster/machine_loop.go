package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletons"
)

// A machineLoop runs the machine of one incarnation: it feeds it events and executes its actions.
// One goroutine owns it.
type machineLoop struct {
	node    *Node
	self    remote.NodeID
	machine *membership.Machine
	gossip  *gossip
	end     *membership.End // not nil once the incarnation is over

	stall stallTimer
}

// forgetAfter is how long the connections to a removed member are kept. In that time the member can
// still acknowledge messages that it has received, so that they do not count as lost.
const forgetAfter = 100 * time.Millisecond

func (n *Node) runIncarnation(set membership.Settings) membership.End {
	self := set.Self.ID()
	l := &machineLoop{node: n, self: self, machine: membership.New(set)}
	var err error
	l.gossip, err = startGossip(gossipConfig{
		name:     gossipName(self.Address, self.Incarnation),
		label:    n.cfg.Name,
		endpoint: n.endpoint,
		log:      n.log,
		received: l.receiveGossip,
		state:    n.wholeTable,
		admit:    n.admit,
		seen: func(name string, alive bool) {
			if address, incarnation, ok := parseGossipName(name); ok {
				l.post(membership.Connected{ID: remote.NodeID{Address: address, Incarnation: incarnation}, On: alive})
			}
		},
	})
	if err != nil {
		return membership.End{Err: err}
	}
	l.run()
	l.gossip.stop(l.end.Err == nil && !l.end.Rejoin)
	return *l.end
}

// run handles events until the incarnation has ended or the node is aborted. A panic in code of the
// user's, such as Config.Clock, that is not caught closer to its place ends the node, and not the
// process.
func (l *machineLoop) run() {
	if err := guard.Do(l.handleAll); err != nil {
		l.end = &membership.End{Err: fmt.Errorf("cluster: the node has failed: %w", err)}
	}
}

func (l *machineLoop) handleAll() {
	n := l.node
	ticks, stop := n.cfg.Clock.NewTicker(n.cfg.Detector.CheckEvery)
	defer stop()
	l.handle(membership.Started{})
	for l.end == nil {
		select {
		case <-n.inbox.full:
			l.receive(n.inbox.take())
		case <-ticks:
			l.handle(membership.Ticked{})
			n.counters.Suspected(l.machine.HighestPhi(n.cfg.Clock.Now()))
			l.explain(n.cfg.Clock.Now())
		case <-n.aborted.Done():
			l.end = &membership.End{Err: context.Cause(n.aborted)}
		}
	}
}

// receive handles events. Once the incarnation has ended, it returns the rest to the inbox for the
// next one.
func (l *machineLoop) receive(events []envelope) {
	for i, e := range events {
		if l.end != nil {
			l.node.inbox.putBack(events[i:])
			return
		}
		if e.to == 0 || e.to == l.self.Incarnation {
			l.handle(e.ev)
		}
	}
}

func (l *machineLoop) handle(ev membership.Input) {
	clock := l.node.cfg.Clock
	now := clock.Now()
	l.machine.SetCalendar(clock.Wall().Sub(now))
	for _, a := range l.machine.Step(ev, now) {
		l.do(a)
	}
}

func (l *machineLoop) do(a membership.Action) {
	n, self := l.node, l.self
	switch a := a.(type) {
	case membership.Send:
		n.endpoint.SendControl(a.To.Address, a.Encode(self.Incarnation, n.versionFor(a.To)))
	case membership.Beat:
		l.beat(a)
	case membership.Spread:
		l.spread(a)
	case membership.Connect:
		n.tasks.Go(func() { l.connect(a.Address) })
	case membership.Discover:
		n.tasks.Go(func() { n.discoverer.search(n.aborted, l.post) })
	case membership.Forget:
		time.AfterFunc(forgetAfter, func() { n.endpoint.Forget(a.ID) })
	case membership.Publish:
		n.state.Store(new(l.machine.Snapshot()))
		n.show(a.View)
	case membership.AcquireLease:
		n.tasks.Go(func() { n.leasing.acquire(a, l.post) })
	case membership.Drain:
		n.tasks.Go(l.drain)
	case membership.Stop:
		n.departure.mayStop()
	case membership.Reply:
		a.To <- a.Err
	case membership.Decided:
		n.counters.Decided(a.Decision)
	case membership.Note:
		l.note(a)
	case membership.End:
		if refused, ok := errors.AsType[*membership.RefusedError](a.Err); ok {
			a.Err = (*RefusedError)(refused)
		}
		l.end = &a
	}
}

// beat sends a heartbeat as a datagram and on the control channel; the first copy to arrive counts.
func (l *machineLoop) beat(b membership.Beat) {
	datagram, stream := b.Encode(l.self.Incarnation, l.node.versionForAll())
	for _, address := range b.To {
		l.node.endpoint.SendPacket(address, datagram)
		l.node.endpoint.SendControl(address, stream)
	}
}

// spread broadcasts each entry of a table separately, so that a newer version can replace it. An
// entry that is too large for a broadcast reaches the others when they notice that the hash of
// their table differs from the one in heartbeats.
func (l *machineLoop) spread(s membership.Spread) {
	for key, data := range s.Encode(l.self, l.node.versionForAll()) {
		if len(data) <= maxBroadcast {
			l.gossip.broadcast(key, data)
		}
	}
}

func (l *machineLoop) connect(address string) {
	if err := l.gossip.join(address); err != nil {
		l.node.log.Debug("gossip not connected", zap.String("peer", address), zap.Error(err))
	}
}

// Any goroutine may call post.
func (l *machineLoop) post(in membership.Input) { l.node.inbox.post(l.self.Incarnation, in) }

func (l *machineLoop) drain() {
	n := l.node
	if err := singletons.Drain(n.aborted, n.System); err == nil {
		l.post(membership.Drained{})
	}
}

func (l *machineLoop) note(a membership.Note) {
	log := l.node.log.Info
	if a.Warn {
		log = l.node.log.Warn
	}
	fields := []zap.Field{zap.String("peer", a.Address), zap.String("reason", a.Reason)}
	if a.Advice != "" {
		fields = append(fields, zap.String("advice", a.Advice))
	}
	log(a.Text, fields...)
	l.node.history.noted(a, l.node.View())
}

// wholeTable returns the encoded table. memberlist calls it, much less often than the table
// changes.
func (n *Node) wholeTable() []byte {
	whole := n.state.Load()
	if whole == nil {
		return nil
	}
	return whole.Encode(n.versionForAll())
}

// receiveGossip posts what another node has sent by gossip. memberlist calls it.
func (l *machineLoop) receiveGossip(data []byte) {
	in, err := membership.DecodeGossip(data)
	if err != nil {
		l.node.notUnderstood("gossip", err)
		return
	}
	l.node.inbox.offer(l.self.Incarnation, in) // a dropped event is repeated
}

var errRemoved = errors.New("cluster: removed incarnation")

// errRemovedMember is also sent to the removed node.
var errRemovedMember = errors.New("removed from the cluster")

// admitMessages refuses messages between actors from and to removed incarnations. The endpoint
// calls it. Control messages still pass, so that the removed node learns of its removal.
func (n *Node) admitMessages(id remote.NodeID) error {
	if membership.IsRemoved(n.View().in, id) {
		return errRemovedMember
	}
	return nil
}

func (n *Node) admit(name string) error {
	address, incarnation, ok := parseGossipName(name)
	if !ok {
		return errors.New("cluster: not the name of a node")
	}
	if membership.IsRemoved(n.View().in, remote.NodeID{Address: address, Incarnation: incarnation}) {
		return errRemoved
	}
	return nil
}

func (n *Node) next(set membership.Settings, e membership.End) membership.Settings {
	set.Earlier = append(slices.Clone(set.Earlier), set.Self.Incarnation)
	set.Self.Incarnation = node.RenewIncarnation(set.Self.Incarnation)
	set.Founding = drawClusterID()
	set.Known = e.Known
	set.Version = n.View().Version
	set.Lost = membership.Lost(n.View().in)
	return set
}
