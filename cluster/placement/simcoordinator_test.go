package placement

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/persistence"
)

// A simCoordinator is a planner, and the shell around it.
type simCoordinator struct {
	sim     *sim
	on      home.NodeID
	epoch   uint64
	planner *planner
	pending journaled.Pending[home.Fact, home.Effect]
	alarm   uint64 // the number of the timer that counts
	dead    bool
	died    time.Time
}

func (c *simCoordinator) end() {
	if !c.dead {
		c.dead, c.died = true, c.sim.now
	}
}

// loseLead ends the coordinator, or lets it continue for a while without knowing that it has been
// replaced.
func (s *sim) loseLead() {
	c := s.lead
	if c == nil {
		return
	}
	s.lead = nil
	if c.sim.node(c.on.Name).alive && s.chance(0.7) {
		s.in(s.upTo(20*time.Second), c.end)
	} else {
		c.end()
	}
	s.elect()
}

// takeOver makes a coordinator from the journal.
func (s *sim) takeOver(n *simNode) {
	s.loseLead()
	s.found.Coordinators++
	s.epoch++
	c := &simCoordinator{sim: s, on: n.id(), epoch: s.epoch, planner: newPlanner(s.config(s.epoch))}
	s.note("coordinator %d on %s", c.epoch, n.name)
	c.planner.Replay(ledgerOf(s.journal...))
	s.lead = c
	s.singletons.reigns = append(s.singletons.reigns, c)
	c.step(home.Recovered{})
	if !c.dead {
		c.step(s.view())
	}
	for n := s.rng.IntN(4); n > 1 && !s.quiet; n-- {
		s.submit() // they wait together until the nodes have reported
	}
}

func (s *sim) config(epoch uint64) plannerConfig {
	by := LeastLoaded()
	switch s.seed % 5 {
	case 0:
		by = StrategyFunc(func(n home.Node, _ Spec, _ home.View) float64 {
			if len(n.Actors) >= 3 {
				return 0 // it is full
			}
			return math.Pi
		})
	case 1:
		by = StrategyFunc(func(home.Node, Spec, home.View) float64 {
			if !s.quiet && s.chance(0.05) {
				panic("no idea")
			}
			return s.rng.Float64()
		})
	}
	return plannerConfig{
		Config:   home.Config{Epoch: epoch, AckTimeout: time.Second, Retry: 200 * time.Millisecond, RetryMax: 5 * time.Second},
		Strategy: by, Election: oldest(""), SourceTimeout: []time.Duration{0, time.Second}[s.seed/2%2],
	}
}

// step handles an input, stores the facts and carries out the effects, unless it is stopped in
// between or another coordinator has taken over.
func (c *simCoordinator) step(in home.Input) {
	s := c.sim
	if c.dead {
		return
	}
	if _, quiet := in.(home.Tick); !quiet {
		s.note("in %d: %s", c.epoch, simShow(in))
	}
	c.pending.Add(c.planner.Step(in, s.now))
	for appends := 0; ; appends++ {
		effects, done := c.save(appends)
		switch {
		case c.dead:
			return
		case !done:
			continue
		}
		for _, e := range effects {
			c.do(e)
		}
		c.setAlarm()
		return
	}
}

// save makes the next append, and returns the effects when it was the last. The journal may
// refuse a spec that was submitted, and the coordinator may end at any moment.
func (c *simCoordinator) save(appends int) (effects []home.Effect, done bool) {
	s := c.sim
	batch := c.pending.Batch(s.maxAppend, home.Fact.Size)
	crash := !s.quiet && (s.chance(0.002) || appends > 0 && s.chance(0.05))
	switch {
	case len(batch) > 0 && c != s.lead:
		s.found.Fenced++
		c.end()
		return nil, false
	case crash && s.chance(0.5):
		s.found.Unstored++
		if appends > 0 {
			s.found.Torn++
		}
		s.kill(c)
		return nil, false
	case slices.ContainsFunc(batch, s.unfit):
		s.note("refused %d: %d facts from %s on", c.epoch, len(batch), batch[0].Key)
		if len(batch) == 1 {
			s.found.Unfit++
		} else {
			s.found.UnfitAmong++
		}
		if !c.pending.Refused(len(batch), errSimUnfit, c.planner, s.now) {
			s.breach("the coordinator gives up because of %s", batch[0].Key)
			c.end()
		}
		return nil, false
	}
	for _, f := range batch {
		s.note("fact %d: %s", c.epoch, simShowFact(f))
		s.lookAt(c, f)
		s.singletons.lookAt(c, f)
		s.journal = append(s.journal, f)
	}
	if crash {
		s.found.Unsent++
		s.kill(c)
		return nil, false
	}
	return c.pending.Stored(len(batch))
}

var errSimUnfit = fmt.Errorf("the journal does not take this: %w", persistence.ErrTooLarge)

// unfit reports whether the journal rejects a fact. It rejects some facts with a new spec, each at
// every attempt.
func (s *sim) unfit(f home.Fact) bool {
	if !submits(f) {
		return false
	}
	var of any = f.Record.Request
	if label, single := labelOf(f); single {
		of = [2]any{label, f.Record.Granted}
	}
	is, known := s.unfits[of]
	if !known {
		is = !s.quiet && s.chance(0.05)
		s.unfits[of] = is
	}
	return is
}

func (s *sim) kill(c *simCoordinator) {
	s.note("coordinator %d is killed", c.epoch)
	c.end()
	if s.lead == c {
		s.lead = nil
		s.elect()
	}
}

func (c *simCoordinator) do(e home.Effect) {
	s := c.sim
	switch e := e.(type) {
	case home.Reply:
		s.clients.reply(e)
	case home.Send:
		s.note("to %s.%d: %s", e.Node, e.Incarnation, simShow(e.Msg))
		s.begins(c, e)
		from := s.node(c.on.Name)
		if from.cut && e.Node != c.on.Name {
			return
		}
		s.carry(func() {
			to := s.node(e.Node)
			if to.alive && to.incarnation == e.Incarnation && (!to.cut || e.Node == c.on.Name) {
				to.agent.hear(e, c)
			}
		})
	case claimTerm:
		s.singletons.call(c, e)
	case home.Moved:
		s.found.Anew++
		if e.From == "" || e.To == "" || e.Cause == "" || e.Began.After(s.now) {
			s.breach("a move lacks something: %+v", e)
		}
	}
}

// setAlarm makes the planner step when something is due.
func (c *simCoordinator) setAlarm() {
	at, ok := c.planner.Next()
	if !ok {
		return
	}
	if at.Before(c.sim.now) {
		c.sim.breach("what was due at %v still is", at)
	}
	c.alarm++
	alarm := c.alarm
	c.sim.in(at.Sub(c.sim.now), func() {
		if c.alarm == alarm {
			c.step(home.Tick{})
		}
	})
}

// hear delivers the message of an agent.
func (c *simCoordinator) hear(from *simNode, msg home.FromAgent) {
	c.sim.carry(func() {
		to := c.sim.node(c.on.Name)
		if (from.cut || to.cut) && from.name != c.on.Name {
			return
		}
		c.step(home.Received{Message: msg})
	})
}
