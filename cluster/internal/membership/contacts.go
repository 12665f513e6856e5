package membership

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Contacts are the nodes that a node asks while it looks for a cluster, and what it has heard
// of them.
//
// Without discovery, an operator can declare that some of them are gone, that is, stopped for
// good. The node then no longer waits for their answers. The remaining seeds found a cluster by
// the same rules as if no list of seeds named the nodes that are gone. The operator tells one
// node, which tells the others when it asks to join. A node that hears from another one does
// not believe that it is gone.
type contacts struct {
	*core
	discovery *discovery

	addresses []string             // the addresses to ask, besides those that discovery finds
	aliases   map[string]bool      // asked addresses that turned out to be this node's own
	names     map[string]string    // by asked address: the address that the node there advertises
	negative  map[string]time.Time // when an address last denied a cluster, or had no node
	heard     map[string]time.Time // when each asked address was last heard from
	gone      map[string]bool      // asked addresses that an operator has declared gone
}

func newContacts(c *core, d *discovery) *contacts {
	return &contacts{
		core:      c,
		discovery: d,
		aliases:   map[string]bool{},
		names:     map[string]string{},
		negative:  map[string]time.Time{},
		heard:     map[string]time.Time{},
		gone:      map[string]bool{},
	}
}

func (c *contacts) isSelf(address string) bool {
	return address == c.self.Address || c.aliases[address]
}

// unheard returns the addresses that have not said within answerHolds that there is no cluster.
func (c *contacts) unheard() []string {
	return slices.DeleteFunc(c.targets(), func(a string) bool { return c.denied(a) || c.hasVanished(a) || c.gone[a] })
}

// hasVanished reports whether a working discovery has not found an address for so long
// (vanishAfter) that no node is expected to answer there. Seeds never vanish.
func (c *contacts) hasVanished(address string) bool {
	if !c.set.Discovers || c.discovery.first.IsZero() || slices.Contains(c.set.Seeds, address) {
		return false
	}
	last, ok := c.discovery.last[address]
	if !ok {
		last = c.discovery.first
	}
	return c.now.Sub(last) >= vanishAfter
}

// follows reports whether this node founds a cluster only together with its seed group.
func (c *contacts) follows() bool {
	return !c.set.Discovers && len(c.set.Seeds) > 0 && !c.isSelf(c.set.Seeds[0])
}

// mayBeGone returns an error if an operator cannot declare these nodes gone.
func (c *contacts) mayBeGone(addresses []string) error {
	switch {
	case c.phase == phaseMember:
		return fmt.Errorf("%w: it is in one; to give up a member call Down", ErrNotJoining)
	case c.phase != phaseJoining:
		return fmt.Errorf("%w: it is about to stop or to start again; wait until its View says that it looks for one", ErrNotJoining)
	case c.set.Discovers:
		return errors.New("cluster: FoundWithout: Config.Discovery finds the nodes; take those that are gone out of what it finds, and restart the nodes without them in Config.Seeds")
	case len(addresses) == 0:
		return errors.New("cluster: FoundWithout: no address is given; name the nodes that are gone")
	}
	for _, address := range addresses {
		switch {
		case c.isSelf(address):
			return fmt.Errorf("cluster: FoundWithout: %s is this node; call it on a node that is left, with those that are gone", address)
		case !slices.Contains(c.targets(), address):
			return fmt.Errorf("cluster: FoundWithout: this node does not wait for %q; name some of %s", address, strings.Join(c.targets(), ", "))
		case c.heardLately(address):
			return fmt.Errorf("cluster: FoundWithout: the node at %s has just answered; stop it first, or leave it out", address)
		}
	}
	if len(c.seedsLeft(addresses)) == 0 {
		return fmt.Errorf("cluster: FoundWithout: of the seeds, %s, none would be left; restart the nodes with Config.Seeds that begin with one of those that run, the same everywhere", strings.Join(c.set.Seeds, ", "))
	}
	return nil
}

func (c *contacts) seedsLeft(addresses []string) []string {
	return slices.DeleteFunc(slices.Clone(c.set.Seeds), func(seed string) bool {
		return c.gone[seed] || slices.Contains(addresses, seed)
	})
}

// learnGone adopts what an operator has told another node, except about nodes that this node
// hears.
func (c *contacts) learnGone(addresses []string) {
	if c.set.Discovers {
		return
	}
	for _, address := range addresses {
		if !c.gone[address] && slices.Contains(c.targets(), address) && !c.heardLately(address) {
			c.gone[address] = true
			c.do(Note{Text: "another node says that an operator has said that a node is gone", Address: address})
		}
	}
}

// noteHeard records that a node is alive, under its own address and the addresses at which it
// was asked.
func (c *contacts) noteHeard(address string) {
	for _, target := range c.targets() {
		if target != address && c.names[target] != address {
			continue
		}
		c.heard[target] = c.now
		if c.gone[target] {
			delete(c.gone, target)
			c.do(Note{Warn: true, Text: "a node that an operator has said to be gone answers: it is waited for again", Address: target})
		}
	}
}

// heardLately reports whether a node was heard within grantHolds. This node may then have
// granted it something.
func (c *contacts) heardLately(target string) bool { return c.recent(c.heard[target], grantHolds) }

func (c *contacts) goneNodes() []string {
	return slices.DeleteFunc(c.targets(), func(target string) bool { return !c.gone[target] })
}

// absent returns the nodes that this one waits for without an answer, and that an operator
// could declare gone.
func (c *contacts) absent() []string {
	if c.set.Discovers || c.phase != phaseJoining {
		return nil
	}
	unheard := c.unheard()
	return slices.DeleteFunc(c.targets(), func(target string) bool {
		needed := slices.Contains(unheard, target) || c.follows() && slices.Contains(c.set.Seeds, target)
		return !needed || c.gone[target] || c.heardLately(target)
	})
}

func (c *contacts) advice() string {
	absent := c.absent()
	if len(absent) == 0 {
		return ""
	}
	if len(c.seedsLeft(absent)) == 0 {
		return fmt.Sprintf("if %s will never come back: restart the nodes with Config.Seeds that begin with one of those that run, the same everywhere", strings.Join(absent, ", "))
	}
	return fmt.Sprintf("if %s will never come back: restart one of the other seeds with Config.Seeds that begin with itself and leave out what is gone, "+
		"or name what is gone to Node.FoundWithout, or on the status page where it has actions, of one node that has been a member before", strings.Join(absent, ", "))
}

// alone reports whether this node is the only one of its seeds that is left.
func (c *contacts) alone() bool {
	left := c.seedsLeft(nil)
	return c.follows() && len(left) > 0 && !slices.ContainsFunc(left, func(seed string) bool { return !c.isSelf(seed) })
}

func (c *contacts) ask(address string) {
	if address != c.self.Address && !slices.Contains(c.addresses, address) {
		c.addresses = append(c.addresses, address)
	}
}

// targets returns all addresses to ask, without this node's own.
func (c *contacts) targets() []string {
	var targets []string
	skip := map[string]bool{}
	for _, address := range slices.Concat(c.addresses, c.discovery.addresses) {
		if !skip[address] && !c.isSelf(address) {
			targets = append(targets, address)
		}
		skip[address] = true
	}
	return targets
}

func (c *contacts) denied(address string) bool { return c.recent(c.negative[address], answerHolds) }
