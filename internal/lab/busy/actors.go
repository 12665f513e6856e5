package busy

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// LoseMessage makes a dead letter.
func (p *Program) LoseMessage() { p.gone.Tell("hello") }

// SpawnClumsy spawns an actor of the kind "clumsy" on the first node, which fails at each message
// and is restarted.
func (p *Program) SpawnClumsy() actor.ActorRef[string] {
	return actor.Spawn(p.Nodes[0], behaviors.Supervise(
		behaviors.Receive(func(ctx *actor.Context[string], _ string) actor.Behavior[string] {
			return ctx.Fail(errors.New("dropped it"))
		}), actor.Strategy{}), "clumsy", actor.WithKind("clumsy"))
}

// SpawnBlocked spawns an actor of the kind "blocked" on the first node, whose handler does not
// return before Close. Messages to it wait.
func (p *Program) SpawnBlocked() actor.ActorRef[string] {
	return actor.Spawn(p.Nodes[0], behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
		<-p.release
		return behaviors.Same
	}), "blocked", actor.WithKind("blocked"))
}
