package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/singleton"
)

// A life is one incarnation of a node: it feeds the machine with events, and does what
// the machine wants done. One goroutine owns it.
type life struct {
	node    *Node
	machine *machine
	gossip  *gossip
	end     *end // it is over

	patience patience
}

// farewell is how long a removed member's connections are kept, so that it can still
// acknowledge what it has received. Else that would look lost.
const farewell = 100 * time.Millisecond

// live runs one incarnation to its end.
func (n *Node) live(set rules) end {
	self := set.self.ID()
	l := &life{node: n, machine: newMachine(set)}
	var err error
	l.gossip, err = startGossip(gossipConfig{
		name:     gossipName(self.Address, self.Incarnation),
		label:    n.cfg.Name,
		endpoint: n.endpoint,
		log:      n.log,
		received: func(data []byte) { n.heardByGossip(self, data) },
		state:    n.wholeTable,
		admit:    n.admit,
		seen: func(name string, alive bool) {
			if address, incarnation, ok := parseGossipName(name); ok {
				n.inbox.post(self.Incarnation, connected{ID{Address: address, Incarnation: incarnation}, alive})
			}
		},
	})
	if err != nil {
		return end{err: err}
	}
	l.run()
	l.gossip.stop(l.end.err == nil && !l.end.rejoin)
	return *l.end
}

// run handles events until the incarnation has ended or the node is aborted.
func (l *life) run() {
	n := l.node
	ticks, stop := n.cfg.Clock.NewTicker(n.cfg.Detector.CheckEvery)
	defer stop()
	l.handle(started{})
	for l.end == nil {
		select {
		case <-n.inbox.full:
			l.open(n.inbox.take())
		case <-ticks:
			l.handle(ticked{})
			l.explain(n.cfg.Clock.Now())
		case <-n.aborted.Done():
			l.end = &end{err: context.Cause(n.aborted)}
		}
	}
}

// open handles events; once the incarnation has ended, the rest is for the next.
func (l *life) open(letters []letter) {
	for i, letter := range letters {
		if l.end != nil {
			l.node.inbox.putBack(letters[i:])
			return
		}
		if letter.to == 0 || letter.to == l.machine.self.Incarnation {
			l.handle(letter.ev)
		}
	}
}

func (l *life) handle(ev event) {
	clock := l.node.cfg.Clock
	now := clock.Now()
	l.machine.wallAhead = clock.Wall().Sub(now)
	for _, a := range l.machine.step(ev, now) {
		l.do(a)
	}
}

func (l *life) do(a action) {
	n := l.node
	switch a := a.(type) {
	case send:
		n.endpoint.SendControl(a.to.Address, l.encode(a.to.Incarnation, a.msg))
	case beat:
		l.beat(a)
	case spread:
		l.spread(a.change)
	case connect:
		n.tasks.Go(func() { l.connect(a.address) })
	case discover:
		n.tasks.Go(func() { n.search(l.machine.self.Incarnation) })
	case forget:
		time.AfterFunc(farewell, func() { n.endpoint.Forget(a.id) })
	case publish:
		n.state.Store(&tablePush{From: l.machine.self, Whole: true, Table: l.machine.table.pack()})
		n.show(a.view)
	case acquire:
		n.tasks.Go(func() { n.acquire(l.machine.self.Incarnation, a) })
	case drain:
		n.tasks.Go(l.drain)
	case stop:
		n.departure.mayStop()
	case reply:
		a.to <- a.err
	case note:
		l.note(a)
	case end:
		l.end = &a
	}
}

func (l *life) encode(to uint64, msg message) []byte {
	return encode(envelope{from: l.machine.self.Incarnation, to: to, msg: msg})
}

// beat sends the heartbeat on both lanes: the first copy to arrive counts.
func (l *life) beat(b beat) {
	datagram := l.encode(0, b.msg)
	b.msg.Stream = true
	stream := l.encode(0, b.msg)
	for _, address := range b.to {
		l.node.endpoint.SendPacket(address, datagram)
		l.node.endpoint.SendControl(address, stream)
	}
}

// spread broadcasts each entry of a table by itself, so that a newer one can take its
// place. One that is too large reaches the others by the sums in the heartbeats.
func (l *life) spread(change table) {
	for key, entry := range change.entries() {
		data := l.encode(0, tablePush{From: l.machine.self, Table: entry.pack()})
		if len(data) <= maxBroadcast {
			l.gossip.broadcast(key, data)
		}
	}
}

func (l *life) connect(address string) {
	if err := l.gossip.join(address); err != nil {
		l.node.log.Debug("gossip not connected", zap.String("peer", address), zap.Error(err))
	}
}

// drain waits until no singleton runs here.
func (l *life) drain() {
	n := l.node
	if err := singleton.Drain(n.aborted, n.System); err == nil {
		n.inbox.post(l.machine.self.Incarnation, drained{})
	}
}

func (l *life) note(a note) {
	log := l.node.log.Info
	if a.warn {
		log = l.node.log.Warn
	}
	log(a.text, zap.String("peer", a.address), zap.String("reason", a.reason))
}

// wholeTable is called by memberlist, much less often than the table changes.
func (n *Node) wholeTable() []byte {
	whole := n.state.Load()
	if whole == nil {
		return nil
	}
	return encode(envelope{from: whole.From.Incarnation, msg: *whole})
}

// heardByGossip is called by memberlist.
func (n *Node) heardByGossip(self ID, data []byte) {
	e, err := decode(data)
	if push, ok := e.msg.(tablePush); ok {
		n.inbox.offer(self.Incarnation, gossiped{push}) // what is dropped comes again
		return
	}
	n.log.Debug("gossip not understood", zap.Error(err))
}

var errRemoved = errors.New("cluster: removed incarnation")

// errRemovedMember is told to the node that has been removed as well.
var errRemovedMember = errors.New("removed from the cluster")

// admitMessages is called by the endpoint: actors hear nothing of removed incarnations, nor
// those of them. Nodes still do, to be told.
func (n *Node) admitMessages(id ID) error {
	if _, removed := n.View().tombs[id]; removed {
		return errRemovedMember
	}
	return nil
}

// admit keeps removed incarnations out of gossip.
func (n *Node) admit(name string) error {
	address, incarnation, ok := parseGossipName(name)
	if !ok {
		return errors.New("cluster: not the name of a node")
	}
	if _, removed := n.View().tombs[ID{Address: address, Incarnation: incarnation}]; removed {
		return errRemoved
	}
	return nil
}

// next returns the rules of the incarnation after the one that has ended.
func (n *Node) next(set rules, e end) rules {
	set.earlier = append(slices.Clone(set.earlier), set.self.Incarnation)
	set.self.Incarnation = node.RenewIncarnation(set.self.Incarnation)
	set.founding = drawClusterID()
	set.known = e.known
	set.version = n.View().Version
	return set
}
