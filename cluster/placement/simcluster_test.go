package placement

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

const (
	simDetection = 500 * time.Millisecond // until a node is unreachable
	simRemoval   = 2 * time.Second        // until it is removed
	simMargin    = 3 * time.Second        // until it is lost, and has stopped what it runs
)

// A simNode is a name, and the process that has it now.
type simNode struct {
	sim         *sim
	name        string
	meta        map[string]string
	incarnation uint64
	upNumber    uint64

	alive    bool // there is a process
	member   bool // of the cluster, in this incarnation
	up       bool
	cut      bool // it hears nothing, and is not heard
	draining bool
	agent    *simAgent
}

func (n *simNode) id() home.NodeID {
	return home.NodeID{Name: n.name, Incarnation: n.incarnation}
}

// boot starts a process, in a new incarnation.
func (n *simNode) boot() {
	s := n.sim
	if n.alive {
		return
	}
	if n.member { // the other members hear of it at once
		n.member = false
	}
	s.n++
	n.incarnation, n.upNumber = s.n, s.n
	n.alive, n.cut, n.draining = true, false, false
	n.meta = map[string]string{"disk": []string{"ssd", "hdd"}[s.rng.IntN(2)]}
	n.agent = newSimAgent(n)
	n.member, n.up = true, s.quiet || s.chance(0.7)
	if !n.up {
		at := n.incarnation
		s.in(s.upTo(2*time.Second), func() {
			if n.incarnation == at && n.member {
				n.up = true
				s.viewChanged()
			}
		})
	}
	s.note("node %s boots as %d", n.name, n.incarnation)
	s.viewChanged()
}

// crash ends the process. The other nodes detect it later.
func (n *simNode) crash() {
	s := n.sim
	if !n.alive {
		return
	}
	s.found.Crashes++
	s.note("node %s crashes", n.name)
	n.alive = false
	n.agent.die()
	if s.lead != nil && s.lead.on == n.id() {
		s.loseLead()
	}
	n.fade()
}

// fade removes a silent node, unless it becomes reachable again.
func (n *simNode) fade() {
	s, at := n.sim, n.incarnation
	silent := func() bool { return n.incarnation == at && n.member && (!n.alive || n.cut) }
	s.in(simDetection, s.viewChanged)
	s.in(simRemoval, func() {
		if !silent() {
			return
		}
		s.found.Removals++
		s.remove(n)
		if n.alive { // it notices by itself, before the others rely on it
			s.in(s.upTo(simMargin-time.Millisecond), func() {
				if n.incarnation == at {
					s.note("node %s knows that it is removed", n.name)
					n.agent.expel()
				}
			})
			s.in(simMargin-time.Millisecond, func() {
				if n.incarnation == at {
					n.alive = false
					n.agent.die()
					if s.lead != nil && s.lead.on == n.id() {
						s.loseLead()
					}
				}
			})
		}
	})
}

func (s *sim) remove(n *simNode) {
	s.note("node %s is removed", n.name)
	n.member, n.up = false, false
	until := s.now.Add(simMargin)
	s.gone = append(s.gone, home.Gone{Name: n.name, Incarnation: n.incarnation, Until: until})
	s.viewChanged()
}

// split cuts a node off for a while.
func (n *simNode) split() {
	s, at := n.sim, n.incarnation
	if !n.alive || n.cut || !n.member {
		return
	}
	s.found.Splits++
	s.note("node %s is cut off", n.name)
	n.cut = true
	n.fade()
	s.in(s.upTo(3*time.Second), func() {
		if n.incarnation == at && n.member && n.alive {
			s.note("node %s is heard of again", n.name)
			n.cut = false
			s.viewChanged()
		}
	})
}

// leave drains a node, and then ends it gracefully. The drain has a time limit.
func (n *simNode) leave() {
	s, at := n.sim, n.incarnation
	if !n.alive || !n.member || n.draining {
		return
	}
	s.found.Drains++
	s.note("node %s is drained", n.name)
	n.draining = true
	end := func() {
		if n.incarnation != at || !n.alive || !n.member {
			return
		}
		s.note("node %s leaves", n.name)
		n.up = false
		s.viewChanged()
		s.in(s.upTo(time.Second), func() {
			if n.incarnation != at || !n.alive || !n.member {
				return
			}
			n.alive = false
			n.agent.die()
			n.member = false
			if s.lead != nil && s.lead.on == n.id() {
				s.loseLead()
			}
			s.note("node %s has left", n.name)
			s.viewChanged()
		})
	}
	var ask func()
	ask = func() {
		if n.incarnation != at || !n.alive || !n.member {
			return
		}
		if lead := s.lead; lead != nil {
			to := s.clients.token(func(any, error) {
				if s.lead == lead {
					s.drained(n)
				}
				end()
			})
			s.lead.step(home.Drain{Token: to, Node: home.NodeID{Name: n.name, Incarnation: at}})
		}
		s.in(3*time.Second, ask) // it was lost
	}
	ask()
	s.in(15*time.Second, end)
}

// viewChanged gives the coordinator the state of the cluster. Without a coordinator it elects one.
func (s *sim) viewChanged() {
	s.gone = slices.DeleteFunc(s.gone, func(g home.Gone) bool { return !s.now.Before(g.Until) })
	if s.lead == nil || !s.nodes[s.lead.on.Name[0]-'a'].mayLead(s.lead.on) {
		s.elect()
		return
	}
	s.lead.step(s.view())
}

func (n *simNode) mayLead(id home.NodeID) bool { return n.id() == id && n.alive && n.member && n.up }

func (s *sim) view() home.ViewChanged {
	v := home.ViewChanged{Gone: slices.Clone(s.gone)}
	for _, n := range s.nodes {
		if !n.member {
			continue
		}
		v.Nodes = append(v.Nodes, home.Node{
			Name: n.name, Address: n.name, Incarnation: n.incarnation, UpNumber: n.upNumber, Meta: n.meta,
			Roles: []string{[]string{"even", "odd"}[(n.name[0]-'a')%2]}, Up: n.up, Reachable: n.alive && !n.cut,
		})
	}
	return v
}

// elect starts the coordinator on the oldest node, after a short delay.
func (s *sim) elect() {
	s.in(s.upTo(time.Second), func() {
		if s.lead != nil && s.nodes[s.lead.on.Name[0]-'a'].mayLead(s.lead.on) {
			return
		}
		v := home.View{Nodes: s.view().Nodes}
		leader, ok := oldest("").Leader(v)
		if !ok || !s.node(leader).alive {
			s.in(time.Second, s.elect)
			return
		}
		s.takeOver(s.node(leader))
	})
}

func (s *sim) node(name string) *simNode { return s.nodes[name[0]-'a'] }
