package services

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
)

const (
	agentName = "receptionist"
	agentPath = "/system/" + agentName

	// tickEvery is the time between two checks of some of the peers; see rounds.
	tickEvery = 5 * time.Second
)

// Messages to the agent from its own node. Other nodes send the types of wire.go.
type (
	topologyChanged struct {
		extension.Quiet
		topo Topology
	}
	ticked struct{ extension.Quiet }
)

func (o *Services) startAgent() {
	telemetry.AddSource(o.system, o.families)
	actor.Spawn(extension.Framework(o.system), func(ctx *actor.Context[any], next *actor.Next[any]) {
		d := &agent{ctx: ctx, services: o}
		next.OnMessage = func(_ *actor.Context[any], msg any) actor.Behavior[any] {
			d.receive(msg)
			return nil
		}
		d.begin()
	}, agentName)
}

type agent struct {
	ctx      *actor.Context[any]
	services *Services
	ticking  bool
}

func (d *agent) begin() {
	wake := d.ctx.Notify(func() actor.Behavior[any] {
		d.do((*registry).flush)
		return nil
	})
	d.services.mu.Lock()
	d.services.wakeAgent = wake
	d.services.mu.Unlock()
	if d.services.topologies != nil {
		d.follow()
	}
}

func (d *agent) follow() {
	self := d.ctx.Self()
	actor.PipeToSelf(d.ctx, func(ctx context.Context) (struct{}, error) {
		for topo := range d.services.topologies(ctx) {
			self.Tell(topologyChanged{topo: topo})
		}
		return struct{}{}, ctx.Err()
	}, func(struct{}, error) any { return nil })
}

func (d *agent) receive(msg any) {
	switch msg := msg.(type) {
	case topologyChanged:
		d.do(func(r *registry) []envelope { return r.view(msg.topo) })
	case ticked:
		d.do((*registry).tick)
	case wireQuery:
		d.answer(msg)
	case wireChange, wireSnapshot, wireCheck:
		d.do(func(r *registry) []envelope { return r.receive(msg) })
	}
}

func (d *agent) do(f func(r *registry) []envelope) {
	quiet := false
	out := d.services.change(func(r *registry) []envelope {
		out := f(r)
		quiet = r.quiet()
		return out
	})
	for _, p := range out {
		actor.Resolve[any](d.ctx.System(), agentAt(d.ctx.System(), p.to.Address)).Tell(p.msg)
	}
	d.tick(!quiet)
}

// The timer runs while there is anything to compare.
func (d *agent) tick(on bool) {
	if on == d.ticking {
		return
	}
	if d.ticking = on; on {
		d.ctx.Every("tick", tickEvery, ticked{})
	} else {
		d.ctx.CancelTimer("tick")
	}
}

func agentAt(s *actor.System, address string) string {
	return "understudy://" + s.Name() + "@" + address + agentPath
}
