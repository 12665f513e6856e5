package busy

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
)

// SpawnBroken spawns a singleton, "broken", on every node that fails whenever it starts.
func (p *Program) SpawnBroken() {
	for _, n := range p.Nodes {
		actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[string] { panic("no such table") },
			singleton.RestartBackoff(actor.Backoff{Min: 10 * time.Millisecond, Max: 100 * time.Millisecond})), "broken")
	}
}

// SpawnHomeless spawns a singleton, "homeless", on every node that no node may host.
func (p *Program) SpawnHomeless() {
	for _, n := range p.Nodes {
		actor.Spawn(n, behaviors.Singleton(idle, singleton.Role("nobody")), "homeless")
	}
}

// SpawnMismatched spawns a singleton, "mismatched", on every node, with other settings on the last.
func (p *Program) SpawnMismatched() {
	last := len(p.Nodes) - 1
	for _, n := range p.Nodes[:last] {
		actor.Spawn(n, behaviors.Singleton(idle), "mismatched")
	}
	actor.Spawn(p.Nodes[last], behaviors.Singleton(idle, singleton.OnOldest()), "mismatched")
}

// SpawnUnleased spawns a singleton, "unleased", on every node, whose lease somebody outside the
// cluster holds.
func (p *Program) SpawnUnleased() {
	p.leases.Usurp("unleased", "outsider", time.Hour)
	for _, n := range p.Nodes {
		actor.Spawn(n, behaviors.Singleton(idle, singleton.WithLease(p.leases.Lease("unleased", n.View().Self.Name, 15*time.Second))), "unleased")
	}
}

func idle() actor.Behavior[string] { return behaviors.Ignore[string] }
