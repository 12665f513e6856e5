package placement

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// simImpatient is the label of a singleton that has a DrainTimeout, so that two of it may
// live at once.
const simImpatient = "g3"

// simSingletons is the part of a simulation about singletons: the clients, the store that instances
// write to, and the laws.
type simSingletons struct {
	sim    *sim
	source *simSource
	grants map[string]map[singleton.Generation]string // owners, by label
	reigns []*simCoordinator                          // those that live, whether they lead or do not know that they have been replaced

	starts, stops map[string][]*simAsked
	launched      map[string]int                  // how many instances
	newest        map[string]singleton.Generation // of the latest
	fence         map[string]singleton.Generation // the highest that the store has seen
	wrote         map[string]int                  // the latest instance of which the store has taken a write
}

// A simAsked is a request, and the time in which it may happen.
type simAsked struct {
	to    *simCoordinator
	at    time.Time
	done  bool // it has been answered; nothing happens after until
	until time.Time
	ok    bool // by a coordinator that is not a former one, so that the answer holds
}

func newSimSingletons(s *sim) *simSingletons {
	return &simSingletons{
		sim: s, source: newSimSource(), grants: map[string]map[singleton.Generation]string{}, starts: map[string][]*simAsked{}, stops: map[string][]*simAsked{},
		launched: map[string]int{}, newest: map[string]singleton.Generation{}, fence: map[string]singleton.Generation{}, wrote: map[string]int{},
	}
}

// mayHappenAfter reports whether a request may have an effect after some time.
func (a *simAsked) mayHappenAfter(t time.Time) bool {
	switch {
	case a.done:
		return a.until.After(t)
	case a.to.dead:
		return a.to.died.After(t)
	}
	return true
}

// fault sends a request to a coordinator, which may not know yet that it has been replaced.
func (g *simSingletons) fault() {
	s := g.sim
	to := s.lead
	g.reigns = slices.DeleteFunc(g.reigns, func(c *simCoordinator) bool { return c.dead })
	if len(g.reigns) > 0 && s.chance(0.4) {
		to = g.reigns[s.rng.IntN(len(g.reigns))]
	}
	if to == nil || to.dead {
		return
	}
	label := fmt.Sprintf("g%d", s.rng.IntN(4))
	switch p := s.rng.Float64(); {
	case p < 0.5:
		g.ask(to, label, g.starts, func(t home.Token) home.Input { return startSingleton{Token: t, Spec: g.drawSpec(label)} })
	case p < 0.75:
		s.found.SingleMoves++
		to.step(moveSingleton{Token: s.clients.token(func(_ any, err error) {
			if errors.Is(err, ErrNoOwner) {
				s.found.Ownerless++
			}
		}), Label: label})
	case p < 0.9:
		g.ask(to, label, g.stops, func(t home.Token) home.Input { return stopSingleton{Token: t, Label: label} })
	default:
		g.end(label)
	}
}

// end lets an instance end by itself.
func (g *simSingletons) end(label string) {
	for _, x := range g.sim.census[label] {
		if x.started && !x.stopping {
			x.end("")
			return
		}
	}
}

func (g *simSingletons) drawSpec(label string) SingletonSpec {
	s := g.sim
	spec := SingletonSpec{Label: label, Type: "t"}
	if label == simImpatient {
		spec.DrainTimeout = time.Second
	}
	switch s.rng.IntN(3) {
	case 0:
		spec.Anchor = Leader()
	case 1:
		spec.Anchor = Role([]string{"even", "odd"}[s.rng.IntN(2)])
	case 2:
		spec.Anchor = OnNode(s.nodes[s.rng.IntN(len(s.nodes))].name)
	}
	return spec
}

func (g *simSingletons) ask(to *simCoordinator, label string, all map[string][]*simAsked, in func(home.Token) home.Input) {
	s := g.sim
	a := &simAsked{to: to, at: s.now}
	all[label] = append(all[label], a)
	to.step(in(s.clients.token(func(v any, err error) {
		a.done, a.ok, a.until = true, err == nil && to == s.lead, s.now
		switch o, started := v.(Ownership); {
		case err != nil:
			s.found.SingleRefusals++
		case started:
			s.found.SingleStarts++
			g.granted(o)
		default:
			s.found.SingleStops++
			g.stopped(label, a)
		}
	})))
}

// granted: each reported generation was granted, to the reported owner. If a step grants several
// terms, the journal has only the last one, so that nobody else is granted the others.
func (g *simSingletons) granted(o Ownership) {
	all := g.grants[o.Label]
	if _, known := all[o.Generation]; !known && slices.ContainsFunc(slices.Collect(maps.Keys(all)), o.Generation.Less) {
		all[o.Generation] = o.Owner
	}
	if owner := g.grants[o.Label][o.Generation]; o.Owner != "" && owner != o.Owner {
		g.sim.breach("%+v, and that was granted to %q", o, owner)
	}
}

// lookAt checks a fact: each grant is greater than all before, and the source has issued its term.
func (g *simSingletons) lookAt(c *simCoordinator, f home.Fact) {
	label, single := labelOf(f)
	if !single {
		return
	}
	all, now := g.grants[label], f.Record.Granted
	if all == nil {
		all = map[singleton.Generation]string{}
		g.grants[label] = all
	}
	owner, known := all[now]
	for was := range all {
		if !known && !was.Less(now) {
			g.sim.breach("%s is granted %v after %v", label, now, was)
		}
	}
	if known && owner != f.Record.Owner {
		g.sim.breach("%v of %s is that of %s and of %s", now, label, owner, f.Record.Owner)
	}
	if by := g.source.owners[label][now.Term]; c.planner.specs.cfg.SourceTimeout > 0 && by != f.Record.Owner {
		g.sim.breach("%v of %s is that of %s, and the source's of %s", now, label, f.Record.Owner, by)
	}
	all[now] = f.Record.Owner
}

// spawned: each instance has a generation that was granted to its node, and that is greater than
// all before. After an acknowledged stop no instance starts.
func (g *simSingletons) spawned(x *simActor) {
	s, label := g.sim, x.label
	if x.gen == (singleton.Generation{}) {
		return
	}
	s.found.Launched++
	s.note("%s is launched on %s with %v", label, x.agent.node.name, x.gen)
	if owner := g.grants[label][x.gen]; owner != x.agent.node.name {
		s.breach("%s lives on %s with %v, which is of %q", label, x.agent.node.name, x.gen, owner)
	}
	if label == simImpatient {
		return // a request may be carried out when another has been given up waiting for it
	}
	if !g.newest[label].Less(x.gen) {
		s.breach("%s lives on %s with %v, after %v", label, x.agent.node.name, x.gen, g.newest[label])
	}
	g.newest[label] = x.gen
	g.launched[label]++
	x.n = g.launched[label]
	for _, stop := range g.stops[label] {
		if stop.ok && !g.restarted(label, stop) {
			s.breach("%s was stopped, and lives again on %s", label, x.agent.node.name)
		}
	}
}

// restarted reports whether a start may have happened after a stop.
func (g *simSingletons) restarted(label string, stop *simAsked) bool {
	return slices.ContainsFunc(g.starts[label], func(a *simAsked) bool { return a.mayHappenAfter(stop.at) })
}

// stopped: a stop is acknowledged when the instance has terminated. Only an instance with a
// DrainTimeout may outlive it.
func (g *simSingletons) stopped(label string, stop *simAsked) {
	for _, x := range g.sim.census[label] {
		if x.agent.node.member && !x.agent.dead && label != simImpatient && !g.restarted(label, stop) {
			g.sim.breach("%s was stopped, and lives on %s", label, x.agent.node.name)
		}
	}
}

// write lets an instance write repeatedly to a store that refuses generations lower than the
// highest it has seen.
func (g *simSingletons) write(x *simActor) {
	s := g.sim
	if x.over || x.gen == (singleton.Generation{}) {
		return
	}
	if !x.gen.Less(g.fence[x.label]) {
		if x.n < g.wrote[x.label] && x.label != simImpatient {
			s.breach("a write of %s with %v is taken after one of its successor", x.label, x.gen)
		}
		g.fence[x.label], g.wrote[x.label] = x.gen, x.n
	} else {
		s.found.Zombies++
	}
	s.in(s.upTo(500*time.Millisecond), func() { g.write(x) })
}

// final checks the laws that hold after a long quiet time.
func (g *simSingletons) final(m *planner) {
	s := g.sim
	if len(m.singletons.claims.open) > 0 || !m.nodes.Settled() { // labels stay touched until it is
		s.breach("open %v, settled %v in the end", m.singletons.claims.open, m.nodes.Settled())
	}
	for label, x := range m.singletons.all {
		g.finalSingle(m, label, x)
	}
	for label := range g.starts {
		if g.mustBe(label) && m.singletons.all[label] == nil {
			s.breach("%s was started, and is lost", label)
		}
	}
	g.finalJournal(m)
}

// mustBe reports whether a start was acknowledged after which no stop can have happened.
func (g *simSingletons) mustBe(label string) bool {
	return slices.ContainsFunc(g.starts[label], func(a *simAsked) bool {
		return a.ok && !slices.ContainsFunc(g.stops[label], func(b *simAsked) bool { return b.mayHappenAfter(a.at) })
	})
}

func (g *simSingletons) finalSingle(m *planner, label string, x *managed) {
	s := g.sim
	o, ok := m.ownership(label)
	live := s.census[label]
	rec, _ := m.nodes.Record(ofSingleton + label)
	_, err := x.spec.Anchor.resolve(label, m.View(), m.singletons.cfg.Election, nil)
	switch {
	case !ok:
		s.breach("of %s something is left in the end: %+v", label, x)
	case rec.Ended || !singleIn(rec).equal(x.spec):
		s.breach("%s is %+v, and %+v in the journal", label, x.spec, rec)
	case rec.Granted.Less(o.Generation):
		s.breach("%s is %+v, and %+v in the journal", label, o, rec)
	case o.Phase == SingletonOwnerless:
		if err == nil || len(live) > 0 {
			s.breach("%s is nobody's, lives %d times, and could be somebody's: %v", label, len(live), err)
		}
	case o.Phase != SingletonActive:
		s.breach("%s is %+v in the end", label, o)
	case len(live) != 1 || live[0].agent.node.name != o.Owner || !live[0].started:
		s.breach("%s is %+v, and does not live there", label, o)
	case !x.spec.Anchor.keeps(live[0].agent.node.id(), m.View(), m.singletons.cfg.Election) && err == nil:
		s.breach("%s is on %s, in spite of %v", label, o.Owner, x.spec.Anchor)
	case live[0].gen.Term != o.Generation.Term:
		s.breach("%s is %+v, and lives by %v", label, o, live[0].gen)
	}
}

// finalJournal: another coordinator would know where instances are.
func (g *simSingletons) finalJournal(m *planner) {
	labels := slices.Sorted(maps.Keys(m.singletons.all))
	_, singles := split(ledgerOf(g.sim.journal...))
	known := slices.Sorted(maps.Keys(singles))
	known = slices.DeleteFunc(known, func(label string) bool { return singles[label].Ended })
	if !slices.Equal(labels, known) {
		g.sim.breach("the journal has the singletons %v, there are %v", known, labels)
	}
	for _, label := range labels {
		now := m.singletons.all[label].record()
		if was := singles[label]; !reflect.DeepEqual(now, was) {
			g.sim.breach("the journal has %+v of %s, which is %+v", was, label, now)
		}
	}
}
