package receptionist

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

const (
	deskName = "receptionist"
	deskPath = "/system/" + deskName

	// tickEvery is how often some of the peers are checked; see rounds.
	tickEvery = 5 * time.Second
)

// What the desk is told on its own node; from others it is told the types of wire.go.
type (
	topologyChanged struct{ topo Topology }
	ticked          struct{}
)

// Attach connects the receptionist of s to a cluster, by l. It must be called once, before
// the receptionist is used.
func Attach(s *actor.System, l Locator) {
	o := newOffice(s, l)
	extension.Set(s, o)
	o.open.Do(o.openDesk)
}

// openDesk spawns the actor that receptionists of other nodes talk to.
func (o *office) openDesk() {
	actor.Spawn(extension.Framework(o.system), func(ctx *actor.Context[any], next *actor.Next[any]) {
		d := &desk{ctx: ctx, office: o}
		next.OnMessage = func(_ *actor.Context[any], msg any) actor.Behavior[any] {
			d.receive(msg)
			return nil
		}
		d.begin()
	}, deskName)
}

// A desk sends what the registry has to say, and hears what others have.
type desk struct {
	ctx     *actor.Context[any]
	office  *office
	ticking bool
}

func (d *desk) begin() {
	wake := d.ctx.Notify(func() actor.Behavior[any] {
		d.do((*registry).flush)
		return nil
	})
	d.office.mu.Lock()
	d.office.wakeDesk = wake
	d.office.mu.Unlock()
	if d.office.locator != nil {
		d.follow(d.office.locator)
	}
}

// follow tells the desk every topology, for as long as it lives.
func (d *desk) follow(l Locator) {
	self := d.ctx.Self()
	actor.PipeToSelf(d.ctx, func(ctx context.Context) (struct{}, error) {
		for topo := range l.Topologies(ctx) {
			self.Tell(topologyChanged{topo})
		}
		return struct{}{}, ctx.Err()
	}, func(struct{}, error) any { return nil })
}

func (d *desk) receive(msg any) {
	switch msg := msg.(type) {
	case topologyChanged:
		d.do(func(r *registry) []parcel { return r.view(msg.topo) })
	case ticked:
		d.do((*registry).tick)
	case wireQuery:
		d.answer(msg)
	case wireChange, wireRow, wireCheck:
		d.do(func(r *registry) []parcel { return r.receive(msg) })
	}
}

// do changes the registry, and sends what comes out.
func (d *desk) do(f func(r *registry) []parcel) {
	quiet := false
	out := d.office.change(func(r *registry) []parcel {
		out := f(r)
		quiet = r.quiet()
		return out
	})
	for _, p := range out {
		actor.Resolve[any](d.ctx.System(), deskAt(d.ctx.System(), p.to.Address)).Tell(p.msg)
	}
	d.tick(!quiet)
}

// tick sees that there are ticks as long as there is something to compare.
func (d *desk) tick(on bool) {
	if on == d.ticking {
		return
	}
	if d.ticking = on; on {
		d.ctx.Every("tick", tickEvery, ticked{})
	} else {
		d.ctx.CancelTimer("tick")
	}
}

// deskAt is the path of the receptionist of another node.
func deskAt(s *actor.System, address string) string {
	return "understudy://" + s.Name() + "@" + address + deskPath
}
