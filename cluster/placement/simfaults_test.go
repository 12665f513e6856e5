package placement

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// simClients submit and remove specs, and wait for answers.
type simClients struct {
	sim     *sim
	n       home.Token
	waiting map[home.Token]func(any, error)
	wanted  map[string]bool // specs whose submission was acknowledged, and whose removal has not begun
	removes map[string]int  // how many times the removal of a spec was requested
}

func newSimClients(s *sim) simClients {
	return simClients{sim: s, waiting: map[home.Token]func(any, error){}, wanted: map[string]bool{}, removes: map[string]int{}}
}

func (c *simClients) token(answer func(any, error)) home.Token {
	c.n++
	c.waiting[c.n] = answer
	return c.n
}

func (c *simClients) reply(r home.Reply) {
	answer, ok := c.waiting[r.Token]
	if !ok {
		c.sim.breach("two replies to %d", r.Token)
		return
	}
	delete(c.waiting, r.Token)
	c.sim.note("reply to %d: %v %v", r.Token, r.Value, r.Err)
	answer(r.Value, r.Err)
}

// fault injects a fault, or sends a request to the coordinator.
func (s *sim) fault() {
	if s.chance(0.35) {
		s.singletons.fault()
		return
	}
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	switch p := s.rng.Float64(); {
	case p < 0.40:
		s.submit()
	case p < 0.52:
		s.removeSpec()
	case p < 0.62:
		n.crash()
		s.in(s.upTo(10*time.Second), func() { n.rejoin() })
	case p < 0.70:
		n.split()
		s.in(6*time.Second+s.upTo(10*time.Second), func() { n.rejoin() })
	case p < 0.78:
		n.leave()
		s.in(10*time.Second+s.upTo(10*time.Second), func() { n.rejoin() })
	case p < 0.84:
		n.rejoin()
	case p < 0.90:
		if s.lead != nil {
			s.note("the coordinator is replaced")
			s.loseLead()
		}
	default:
		s.endActor()
	}
}

func (n *simNode) rejoin() {
	if !n.alive {
		n.sim.found.Returns++
		n.boot()
	}
}

func (s *sim) submit() {
	if s.lead == nil {
		return
	}
	spec := s.drawSpec()
	removes := s.clients.removes[spec.Label]
	s.lead.step(submit{Token: s.clients.token(func(v any, err error) {
		if err != nil {
			s.found.Refused++
			return
		}
		s.found.Submitted++
		if spec.OnCrash.Kind != KindAbandon && s.clients.removes[spec.Label] == removes {
			s.clients.wanted[spec.Label] = true
		}
		if d := v.(Decision); s.node(d.Node).incarnation == 0 {
			s.breach("%v is no node", d)
		}
	}), Spec: spec})
}

func (s *sim) drawLabel() string { return fmt.Sprintf("s%d", s.rng.IntN(8)) }

func (s *sim) drawSpec() Spec {
	spec := Spec{Label: s.drawLabel(), Type: "t", State: []byte{byte(s.rng.IntN(256))}}
	switch s.rng.IntN(4) {
	case 0:
		spec.OnCrash = WaitForReturn(time.Second + s.upTo(15*time.Second))
	case 1:
		spec.OnCrash = Abandon()
	}
	c := &spec.Constraints
	switch s.rng.IntN(10) {
	case 0:
		c.Roles = []string{"even"}
	case 1:
		c.Meta = map[string]string{"disk": "ssd"}
	case 2, 3:
		c.AntiAffinity = []string{s.drawLabel(), s.drawLabel()}
	case 4, 5, 6:
		c.ColocateWith = s.drawLabel()
	case 7:
		c.RequiredNode = s.nodes[s.rng.IntN(len(s.nodes))].name
	}
	return spec
}

func (s *sim) removeSpec() {
	if s.lead == nil {
		return
	}
	label := s.drawLabel()
	delete(s.clients.wanted, label)
	s.clients.removes[label]++
	s.lead.step(remove{Token: s.clients.token(func(_ any, err error) {
		if err != nil {
			return
		}
		s.found.Removed++
		s.gonePerReply(label)
	}), Label: label})
}

// gonePerReply: a removal is acknowledged when the actor has terminated. Only a node that
// is gone for the cluster may not know yet.
func (s *sim) gonePerReply(label string) {
	for _, x := range s.census[label] {
		if x.agent.node.member && !x.agent.dead && !s.resubmitted(label, x) {
			s.breach("%s was removed, and lives on %s", label, x.agent.node.name)
		}
	}
}

// resubmitted reports whether x is the actor of a spec that has come after the removal.
func (s *sim) resubmitted(label string, x *simActor) bool {
	r := s.record(label)
	return r != nil && !r.Ended && r.Request == x.id
}

// endActor lets some actor end by itself.
func (s *sim) endActor() {
	label := s.drawLabel()
	for _, x := range s.census[label] {
		if x.started && !x.stopping {
			s.note("%s ends by itself on %s", label, x.agent.node.name)
			x.end("")
			return
		}
	}
}

// rest ends all faults: from now on everything works.
func (s *sim) rest() {
	s.note("no more faults")
	s.quiet = true
	for _, x := range s.hung {
		if !x.over {
			x.run()
		}
	}
	for _, n := range s.nodes {
		if n.cut && n.member {
			n.cut = false
		}
		if s.chance(0.7) {
			s.in(s.upTo(10*time.Second), n.rejoin)
		}
	}
	// There is at least one node.
	s.in(20*time.Second, func() {
		for _, n := range s.nodes {
			if n.alive && n.member {
				return
			}
		}
		s.nodes[0].rejoin()
	})
	s.viewChanged()
}
