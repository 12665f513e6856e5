package placement

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
)

// laws hold at each moment. A label has at most one actor in the whole world, nodes that were
// removed but still run included.
func (s *sim) laws() {
	for label, live := range s.census {
		if len(live) > 1 && label != simImpatient {
			var where []string
			for _, x := range live {
				where = append(where, fmt.Sprintf("%s as %v", x.agent.node.name, x.id))
			}
			s.breach("%s lives on %s", label, strings.Join(where, " and on "))
		}
	}
}

// record returns the record of a label in the journal.
func (s *sim) record(label string) (r *home.Record) {
	for _, f := range slices.Backward(s.journal) {
		switch {
		case f.Key != ofSpec+label:
			continue
		case f.Record == nil:
			return r
		case r == nil:
			whole := *f.Record
			r = &whole
		case !r.Ended:
			r.Spec = f.Record.Spec
		}
		if len(r.Spec) > 0 {
			return r
		}
	}
	return r
}

// lookAt checks a fact: the constraints hold where an actor is placed.
func (s *sim) lookAt(c *simCoordinator, f home.Fact) {
	label, single := labelOf(f)
	if single {
		return
	}
	before, now := s.record(label), f.Record
	if now != nil && before != nil && len(now.Spec) == 0 && !now.Ended {
		whole := *now
		whole.Spec, now = before.Spec, &whole
	}
	switch {
	case now == nil:
		if c.planner.specs.removals[label] == nil {
			s.found.Forgotten++
		}
		return
	case now.Ended:
		return
	case !now.Until.IsZero():
		s.found.Waited++
	case before != nil && before.Node != "" && now.Node != "" && now.Node != before.Node:
		s.found.Moved++
	}
	if now.Request.IsZero() || before != nil && before.Request == now.Request {
		return
	}
	spec := specIn(*now)
	if target := spec.Constraints.ColocateWith; target != "" && !c.planner.owns(target) || c.planner.specs.removals[target] != nil {
		spec.Constraints.ColocateWith = "" // it was removed in the same step, afterwards, or the journal does not take it
	}
	n, _ := c.planner.View().Node(now.Node)
	if why := refuses(n, spec, c.planner.specs.beside(specIn(*now))); why != "" {
		s.breach("%s is placed on %s, which %s forbids", label, now.Node, why)
	}
}

// begins: an actor that is colocated with another one starts only while that one runs on the node,
// as far as the coordinator knows. A request that the node has carried out may be repeated.
func (s *sim) begins(c *simCoordinator, e home.Send) {
	start, starts := e.Msg.(home.StartRequest)
	it := c.planner.specs.all[start.Label]
	if !starts || it == nil || it.request != start.ID || it.Constraints.ColocateWith == "" {
		return
	}
	on := home.NodeID{Name: e.Node, Incarnation: e.Incarnation}
	if n := s.node(e.Node); n.id() == on && n.agent.actors[start.ID] != nil {
		return
	}
	s.found.Followed++
	p, there := c.planner.nodes.Place(on, it.Constraints.ColocateWith)
	if !there || p.Phase == home.Starting || p.Orphan {
		s.breach("%s is to start on %s, where %s does not run", start.Label, e.Node, it.Constraints.ColocateWith)
	}
}

// drained: the drain of a node is over when no actor on it could run elsewhere.
func (s *sim) drained(n *simNode) {
	if s.lead == nil || !n.member || s.seed%5 == 1 {
		return // or the strategy may have failed
	}
	m := s.lead.planner
	for label, live := range s.census {
		it := m.specs.all[label]
		if len(live) == 0 || live[0].agent.node != n || it == nil || it.on != n.id() {
			continue
		}
		if _, err := m.specs.choose(it.Spec); err == nil {
			s.breach("node %s is said to be drained, and runs %s, which could be elsewhere", n.name, label)
		}
	}
}

// final checks the laws that hold after a long quiet time.
func (s *sim) final() {
	if s.lead == nil {
		s.breach("nobody leads in the end")
		return
	}
	m := s.lead.planner
	s.finalRequests(m)
	s.finalAgents()
	s.finalView(m)
	s.finalSpecs(m)
	s.finalJournal(m)
	s.singletons.final(m)
	for label := range s.clients.wanted {
		if m.specs.all[label] == nil {
			s.breach("%s was acknowledged, and is lost", label)
		}
	}
}

// finalRequests: every request has been answered.
func (s *sim) finalRequests(m *planner) {
	if len(m.held()) > 0 || len(m.specs.removals) > 0 {
		s.breach("held %v, removals %v in the end", m.held(), m.specs.removals)
	}
	for _, labels := range []iter.Seq[string]{maps.Keys(s.census), maps.Keys(m.specs.all), maps.Keys(m.singletons.all)} {
		for label := range labels {
			for _, p := range m.nodes.PlacesOf(label) {
				if p.Phase != home.Running || p.Orphan {
					s.breach("%s on %s is in phase %d in the end, orphan %t", label, p.On.Name, p.Phase, p.Orphan)
				}
			}
		}
	}
}

// owns reports whether a label is in use.
// held returns the requests that have not been served.
func (m *planner) held() []home.Input { return slices.Concat(m.specs.held, m.singletons.held) }

func (m *planner) owns(label string) bool { return m.specs.Owns(label) || m.singletons.Owns(label) }

// finalAgents: no agent has anything to say.
func (s *sim) finalAgents() {
	for _, n := range s.nodes {
		if !n.member {
			continue
		}
		report := home.Send{Incarnation: n.incarnation, Msg: home.ReportRequest{Epoch: s.epoch}}.Message(actor.ActorRef[home.FromAgent]{})
		n.agent.core.MaxReport = 1 << 20
		for _, action := range append(n.agent.core.Step(home.AgentTick{}), n.agent.core.Step(home.AgentReceived{Message: report})...) {
			told, ok := action.(home.Tell)
			if !ok || told.Message.Report == nil || !settled(*told.Message.Report) {
				s.breach("the agent of %s is not done in the end: %+v", n.name, action)
			}
		}
	}
}

// settled reports whether all actors run, one of each label.
func settled(r home.Report) bool {
	for i, a := range r.Running {
		if !a.Started || i > 0 && r.Running[i-1].Label == a.Label {
			return false
		}
	}
	return true
}

// finalView: the view has the members, and the actors on each.
func (s *sim) finalView(m *planner) {
	var names []string
	for _, n := range s.nodes {
		if !n.member {
			continue
		}
		names = append(names, n.name)
		shown, ok := m.View().Node(n.name)
		if !ok || shown.Incarnation != n.incarnation || shown.Up != n.up || !shown.Ready {
			s.breach("node %s is shown as %+v", n.name, shown)
		}
		var runs []string
		for _, label := range slices.Sorted(maps.Keys(s.census)) {
			for _, x := range s.census[label] {
				if x.agent.node == n {
					runs = append(runs, label)
				}
			}
		}
		if !slices.Equal(runs, shown.Actors) {
			s.breach("node %s is shown to run %v, and runs %v", n.name, shown.Actors, runs)
		}
	}
	if len(m.View().Nodes) != len(names) {
		s.breach("nodes %v, and the view has %+v", names, m.View().Nodes)
	}
}

// finalSpecs: each spec that has an eligible node runs on one, and its constraints hold.
func (s *sim) finalSpecs(m *planner) {
	for _, st := range m.Statuses() {
		live := s.census[st.Spec.Label]
		switch {
		case st.State == Unplaced && st.NextAttempt.IsZero():
			s.found.Unplaced++
			if _, err := m.specs.choose(st.Spec); err == nil {
				s.breach("%s is not placed, and could be", st.Spec.Label)
			}
			if len(live) > 0 {
				s.breach("%s is not placed, and lives", st.Spec.Label)
			}
		case st.State != Running:
			s.breach("%s is %s in the end", st.Spec.Label, st.State)
		case len(live) != 1 || live[0].agent.node.name != st.Node || !live[0].started:
			s.breach("%s is said to run on %s, and does not", st.Spec.Label, st.Node)
		default:
			s.finalConstraints(m, st)
		}
	}
	for label, live := range s.census {
		if len(live) > 0 && !m.owns(label) {
			s.breach("%s is not wanted, and lives", label)
		}
	}
}

func (s *sim) finalConstraints(m *planner, st Status) {
	c := st.Spec.Constraints
	n, _ := m.View().Node(st.Node)
	if c.ColocateWith != "" {
		s.found.Colocated++
		if _, placed := m.View().Find(c.ColocateWith); !placed {
			c.ColocateWith = "" // it goes on without
		}
	}
	if why := violates(n, c, m.specs.beside(st.Spec)); why != "" {
		s.breach("%s runs on %s, and %s does not hold", st.Spec.Label, st.Node, why)
	}
}

// finalJournal: another coordinator would know the same.
func (s *sim) finalJournal(m *planner) {
	next := newPlanner(s.config(s.epoch + 1))
	next.Replay(ledgerOf(s.journal...))
	next.Step(home.Recovered{}, s.now)
	for _, of := range slices.Sorted(maps.Keys(m.specs.all)) {
		a, b := m.specs.all[of], next.specs.all[of]
		if b == nil || a.record(m.nodes).Node != b.record(next.nodes).Node || a.request != b.request || a.stage != b.stage || !a.Equal(b.Spec) {
			s.breach("the journal has %+v of %s, which is %+v", b, of, a)
		}
	}
	if len(next.specs.all) != len(m.specs.all) {
		s.breach("the journal has %d specs of %d", len(next.specs.all), len(m.specs.all))
	}
}

func (f *simFound) add(o simFound) {
	sum, more := reflect.ValueOf(f).Elem(), reflect.ValueOf(o)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// unseen returns the events that never happened.
func (f simFound) unseen() (names []string) {
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

func simShow(v any) string {
	switch v := v.(type) {
	case home.StartRequest:
		return fmt.Sprintf("start %s as %v", v.Label, v.ID)
	case home.StopRequest:
		return fmt.Sprintf("stop %s of %v", v.Label, v.ID)
	case home.Received:
		return simShow(v.Message)
	case home.FromAgent:
		return fmt.Sprintf("%s.%d says %s", v.Node, v.Incarnation, simShowAgent(v))
	case submit:
		return fmt.Sprintf("submit %s %v %+v", v.Spec.Label, v.Spec.OnCrash, v.Spec.Constraints)
	case home.ViewChanged:
		var b strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&b, " %s.%d up %t reachable %t", n.Name, n.Incarnation, n.Up, n.Reachable)
		}
		return "view" + b.String()
	}
	return fmt.Sprintf("%T %+v", v, v)
}

func simShowAgent(m home.FromAgent) string {
	switch {
	case m.StartAck != nil:
		return fmt.Sprintf("started %s as %v %s", m.StartAck.Label, m.StartAck.ID, m.StartAck.Error)
	case m.StopAck != nil:
		return fmt.Sprintf("stopped %s of %v %s", m.StopAck.Label, m.StopAck.ID, m.StopAck.Error)
	case m.Ended != nil:
		return fmt.Sprintf("ended %s of %v %s", m.Ended.Label, m.Ended.ID, m.Ended.Error)
	}
	return fmt.Sprintf("report after %q %+v, more %t", m.Report.After, m.Report.Running, m.Report.More)
}

func simShowFact(f home.Fact) string {
	switch _, single := labelOf(f); {
	case f.Record == nil:
		return f.Key + " is gone"
	case single:
		return fmt.Sprintf("%s is %+v", f.Key, *f.Record)
	}
	return fmt.Sprintf("%s on %s.%d as %v until %v", f.Key, f.Record.Node, f.Record.Incarnation, f.Record.Request, f.Record.Until)
}
