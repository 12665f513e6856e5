package placement

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// A simAgent is the core of an agent, and the actors that it runs.
type simAgent struct {
	node   *simNode
	core   *home.Agent
	dead   bool
	member bool
	to     *simCoordinator // whose request was taken last
	actors map[home.RequestID]*simActor
}

// A simActor lives from the beginning of its factory until it has terminated.
type simActor struct {
	agent    *simAgent
	id       home.RequestID
	label    string
	gen      singleton.Generation
	started  bool
	stopping bool
	hangs    bool // its factory does not come back
	over     bool
	n        int // of those of the label
}

func newSimAgent(n *simNode) *simAgent {
	a := &simAgent{node: n, core: home.NewAgent(n.name), member: true, actors: map[home.RequestID]*simActor{}}
	a.core.MaxReport = []int{1 << 20, 1, 300}[n.sim.seed%3] // all labels in one report, or one or two
	a.step(home.AgentMembership{Incarnation: n.incarnation})
	a.pass()
	return a
}

// pass lets the agent repeat messages that may have been lost.
func (a *simAgent) pass() {
	a.node.sim.in(2*time.Second, func() {
		if !a.dead {
			a.step(home.AgentTick{})
			a.pass()
		}
	})
}

// expel: the node is no longer a member, and all its actors must stop in time.
func (a *simAgent) expel() {
	a.member = false
	a.step(home.AgentMembership{})
}

// die: the process is gone.
func (a *simAgent) die() {
	a.dead = true
	for _, x := range a.actors {
		x.leave()
	}
}

func (a *simAgent) hear(e home.Send, from *simCoordinator) {
	if a.dead {
		return
	}
	if a.member && (a.to == nil || from.epoch >= a.to.epoch) {
		a.to = from
	}
	a.step(home.AgentReceived{Message: e.Message(actor.ActorRef[home.FromAgent]{})})
}

func (a *simAgent) step(ev home.AgentEvent) {
	if a.dead {
		return
	}
	for _, action := range a.core.Step(ev) {
		switch action := action.(type) {
		case home.Launch:
			a.launch(action.Request)
		case home.Halt:
			a.actors[action.ID].stop()
		case home.Tell:
			a.node.sim.note("from %s: %s", a.node.name, simShow(action.Message))
			if r := action.Message.Report; r != nil && r.More {
				a.node.sim.found.Parts++
			}
			a.to.hear(a.node, action.Message)
		}
	}
}

func (a *simAgent) launch(r home.StartRequest) {
	s := a.node.sim
	if a.actors[r.ID] != nil {
		s.breach("%s is started twice as %v", r.Label, r.ID)
	}
	if s.unfits[r.ID] {
		s.breach("%s is started, though the journal does not take it", r.Label)
	}
	x := &simActor{agent: a, id: r.ID, label: r.Label, gen: r.Generation}
	a.actors[r.ID] = x
	s.singletons.spawned(x)
	s.census[r.Label] = append(s.census[r.Label], x)
	switch {
	case s.quiet || s.chance(0.7):
		s.in(s.upTo(100*time.Millisecond), x.run)
	case s.chance(0.5):
		s.in(s.upTo(3*time.Second), func() { x.end("the factory has failed") })
	case s.chance(0.5):
		s.in(s.upTo(5*time.Second), x.run)
	default:
		s.found.Hung++
		x.hangs = true
		s.hung = append(s.hung, x)
	}
}

// run: the factory is ready.
func (x *simActor) run() {
	x.hangs = false
	switch {
	case x.over || x.started:
		return
	case x.stopping:
		x.end("")
		return
	}
	s := x.agent.node.sim
	s.found.Started++
	x.started = true
	s.singletons.write(x)
	x.agent.step(home.AgentStarted{Label: x.label, ID: x.id})
	if !s.quiet && s.chance(0.1) {
		s.in(s.upTo(8*time.Second), func() { x.end("a fault") })
	}
}

// stop lets it end, after a while; but not before its factory comes back.
func (x *simActor) stop() {
	x.stopping = true
	x.agent.node.sim.in(x.agent.node.sim.upTo(2*time.Second), func() {
		if !x.hangs {
			x.end("")
		}
	})
}

// end: it has terminated, whatever the reason.
func (x *simActor) end(why string) {
	if x.over {
		return
	}
	s := x.agent.node.sim
	switch {
	case x.stopping:
		s.found.Stopped++
	case x.started:
		s.found.Ended++
	default:
		s.found.Failed++
	}
	x.leave()
	x.agent.step(home.AgentEnded{Label: x.label, ID: x.id, Why: why})
}

// leave: it is alive no more.
func (x *simActor) leave() {
	s := x.agent.node.sim
	x.over = true
	s.census[x.label] = slices.DeleteFunc(s.census[x.label], func(o *simActor) bool { return o == x })
	if len(s.census[x.label]) == 0 {
		delete(s.census, x.label)
	}
}
