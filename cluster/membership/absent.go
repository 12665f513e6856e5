package membership

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A node that seeks a cluster waits for the answers of all nodes that it asks, as each of them may
// be in one. An operator can say that some of them are gone: stopped for good. Their answers are
// not waited for any more, and the seeds that are left found a cluster by the same rules as if no
// list named those that are gone. The operator tells one node, and that node tells the others when
// it asks to join. A node that hears from another does not believe that it is gone.

// foundWithout does what an operator wants, or says why not.
func (m *Machine) foundWithout(addresses []string) error {
	if err := m.mayBeGone(addresses); err != nil {
		return err
	}
	for _, address := range addresses {
		m.questions.gone[address] = true
		m.do(Note{Text: "an operator has said that a node is gone: its answer is not waited for", Address: address})
	}
	m.askAround()
	if m.phase == seeking {
		m.sayWhy()
	}
	return nil
}

// mayBeGone says why an operator cannot mean that nodes are gone.
func (m *Machine) mayBeGone(addresses []string) error {
	switch {
	case m.phase == member:
		return fmt.Errorf("%w: it is in one; to give up a member call Down", ErrNotSeeking)
	case m.phase != seeking:
		return fmt.Errorf("%w: it is about to stop or to start again; wait until its View says that it looks for one", ErrNotSeeking)
	case m.set.Discovers:
		return errors.New("cluster: FoundWithout: Config.Discovery finds the nodes; take those that are gone out of what it finds, and restart the nodes without them in Config.Seeds")
	case len(addresses) == 0:
		return errors.New("cluster: FoundWithout: no address is given; name the nodes that are gone")
	}
	for _, address := range addresses {
		switch {
		case m.isSelf(address):
			return fmt.Errorf("cluster: FoundWithout: %s is this node; call it on a node that is left, with those that are gone", address)
		case !slices.Contains(m.targets(), address):
			return fmt.Errorf("cluster: FoundWithout: this node does not wait for %q; name some of %s", address, strings.Join(m.targets(), ", "))
		case m.hears(address):
			return fmt.Errorf("cluster: FoundWithout: the node at %s has just answered; stop it first, or leave it out", address)
		}
	}
	if len(m.seedsLeft(addresses)) == 0 {
		return fmt.Errorf("cluster: FoundWithout: of the seeds, %s, none would be left; restart the nodes with Config.Seeds that begin with one of those that run, the same everywhere", strings.Join(m.set.Seeds, ", "))
	}
	return nil
}

// seedsLeft returns the seeds that are not gone, as if some addresses were as well.
func (m *Machine) seedsLeft(addresses []string) []string {
	return slices.DeleteFunc(slices.Clone(m.set.Seeds), func(seed string) bool {
		return m.questions.gone[seed] || slices.Contains(addresses, seed)
	})
}

// hearGone takes over what an operator has told another node, but for those that this node hears.
func (m *Machine) hearGone(addresses []string) {
	if m.set.Discovers {
		return
	}
	for _, address := range addresses {
		if !m.questions.gone[address] && slices.Contains(m.targets(), address) && !m.hears(address) {
			m.questions.gone[address] = true
			m.do(Note{Text: "another node says that an operator has said that a node is gone", Address: address})
		}
	}
}

// hearsFrom notes that a node lives, by its own address and by one at which it was asked.
func (m *Machine) hearsFrom(address string) {
	q := &m.questions
	for _, target := range m.targets() {
		if target != address && q.names[target] != address {
			continue
		}
		q.heard[target] = m.now
		if q.gone[target] {
			delete(q.gone, target)
			m.do(Note{Warn: true, Text: "a node that an operator has said to be gone answers: it is waited for again", Address: target})
		}
	}
}

// hears reports whether a node has lived so lately that this one may have granted it something.
func (m *Machine) hears(target string) bool { return m.recent(m.questions.heard[target], grantHolds) }

// goneNodes returns those that are gone, as a node says it to others.
func (m *Machine) goneNodes() []string {
	return slices.DeleteFunc(m.targets(), func(target string) bool { return !m.questions.gone[target] })
}

// absent returns the nodes that this one waits for in vain, and that an operator could say to be
// gone.
func (m *Machine) absent() []string {
	if m.set.Discovers || m.phase != seeking {
		return nil
	}
	unheard := m.unheard()
	return slices.DeleteFunc(m.targets(), func(target string) bool {
		needed := slices.Contains(unheard, target) || m.follows() && slices.Contains(m.set.Seeds, target)
		return !needed || m.questions.gone[target] || m.hears(target)
	})
}

// advice says what an operator can do about those that are absent.
func (m *Machine) advice() string {
	absent := m.absent()
	if len(absent) == 0 {
		return ""
	}
	if len(m.seedsLeft(absent)) == 0 {
		return fmt.Sprintf("; if %s will never come back: restart the nodes with Config.Seeds that begin with one of those that run, the same everywhere", strings.Join(absent, ", "))
	}
	return fmt.Sprintf("; if %s will never come back: restart one of the other seeds with Config.Seeds that begin with itself and leave out what is gone, "+
		"or name what is gone to Node.FoundWithout, or on the status page where it has actions, of one node that has been a member before", strings.Join(absent, ", "))
}

// alone reports whether of the seeds of this node only itself is left.
func (m *Machine) alone() bool {
	left := m.seedsLeft(nil)
	return m.follows() && len(left) > 0 && !slices.ContainsFunc(left, func(seed string) bool { return !m.isSelf(seed) })
}
