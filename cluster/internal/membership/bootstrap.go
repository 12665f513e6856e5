package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

type bootstrap struct {
	*core
	contacts *contacts
	group    *seedGroup

	started  time.Time // when this node began to look for a cluster
	joinable time.Time // when a node that is in a cluster last answered
}

// foundIfAlone founds a cluster in two cases. Either this node may found one, and every node
// that was asked has just said that there is no cluster. Or an operator forces it, and no
// member has let this node in.
func (b *bootstrap) foundIfAlone() {
	if b.phase != phaseJoining || !b.forced() && b.obstacle() != (obstacle{}) {
		return
	}
	t := newTable(b.set.Founding)
	self := b.set.Self
	self.Status = Joining
	t.members[b.self] = self
	b.do(Note{Text: "founding a cluster", Address: b.self.Address})
	b.enter(t)
	b.founded = true
}

// forced reports whether this node founds a cluster because an operator forces it and no node
// knows of a cluster. Only the first incarnation does: a later one was removed from a cluster,
// which may still exist without it.
func (b *bootstrap) forced() bool {
	return b.set.Force && len(b.set.Earlier) == 0 &&
		b.now.Sub(b.started) >= askPatience && b.now.Sub(b.joinable) > answerHolds
}

// mayFound reports whether this node is the one that founds a cluster if one is founded.
func (b *bootstrap) mayFound() bool {
	first, ok := b.firstSeed()
	return !ok && !b.set.Discovers || ok && b.contacts.isSelf(first)
}

// firstSeed returns the address of the node that founds: the first seed, or with discovery,
// which has no order, the lowest address.
func (b *bootstrap) firstSeed() (string, bool) {
	switch wanted := b.contacts.discovery.wanted(); {
	case len(wanted) == 0:
		return "", false
	case b.set.Discovers:
		return slices.Min(wanted), true
	default:
		return wanted[0], true
	}
}

type obstacle struct {
	why    string // empty if nothing does
	advice string // what an operator can do about it; may be empty
}

func (o obstacle) sentences() []string {
	return slices.DeleteFunc([]string{o.why, o.advice}, func(s string) bool { return s == "" })
}

func (b *bootstrap) obstacle() obstacle {
	if b.set.Discovers {
		if why := b.tooLittleFound(); why != "" {
			return obstacle{why: why}
		}
	}
	if first, _ := b.firstSeed(); b.contacts.follows() {
		if o := b.group.ungrouped(); o != (obstacle{}) {
			return o
		}
	} else if !b.mayFound() {
		return obstacle{why: b.notFirst(first)}
	}
	if unheard := b.contacts.unheard(); len(unheard) > 0 {
		return obstacle{"no answer from " + strings.Join(unheard, ", ") + ", so a cluster may exist there", b.contacts.advice()}
	}
	return obstacle{}
}

func (b *bootstrap) notFirst(first string) string {
	if !slices.ContainsFunc(b.contacts.discovery.wanted(), b.contacts.isSelf) {
		return fmt.Sprintf("discovery does not find this node, which advertises %s: set Config.Advertise to what is found, such as %s", b.self.Address, first)
	}
	return "nobody found is a member, and only the lowest address, " + first + ", founds a cluster"
}

// foundsAs returns the role in which this node founds a cluster, 0 if it does not found one.
func (b *bootstrap) foundsAs() founder {
	switch {
	case b.mayFound():
		return asFirst
	case b.contacts.follows() && b.group.leads(b.group.group()):
		return asLowest
	}
	return 0
}

// tooLittleFound returns why the nodes that discovery finds are not enough to found a cluster.
// It is empty if they are enough.
func (b *bootstrap) tooLittleFound() string {
	switch n := b.nodesFound(); {
	case b.contacts.discovery.first.IsZero():
		return "discovery has not answered yet"
	case b.now.Sub(b.contacts.discovery.at) > discoveryHolds:
		return "discovery has not answered lately"
	case n < b.set.MinSeeds:
		return fmt.Sprintf("discovery has found %d of at least %d nodes (Config.MinSeeds)", n, b.set.MinSeeds)
	case b.now.Sub(b.contacts.discovery.since) < discoveryStable:
		return "what discovery finds has changed just now"
	}
	return ""
}

// nodesFound counts the nodes that are known, including this node. A node that was found under
// several addresses and has answered counts once.
func (b *bootstrap) nodesFound() int {
	nodes := map[string]bool{}
	for _, address := range b.contacts.discovery.wanted() {
		switch name, known := b.contacts.names[address]; {
		case b.contacts.isSelf(address):
			nodes[b.self.Address] = true
		case known:
			nodes[name] = true
		default:
			nodes[address] = true
		}
	}
	return len(nodes)
}

type discovery struct {
	*core
	addresses []string             // the latest answer, sorted
	first     time.Time            // when discovery first answered, even with no address
	since     time.Time            // since when the answer has been the same
	at        time.Time            // when discovery last answered
	last      map[string]time.Time // when each address was found last
	due       time.Time            // when to ask again
	busy      bool                 // discovery has been called and has not answered
}

func (d *discovery) wanted() []string { return slices.Concat(d.set.Seeds, d.addresses) }

// discoverWhenDue calls discovery: every second while this node looks for a cluster, and every
// 30 s later, so that it meets a cluster that was founded elsewhere.
func (d *discovery) discoverWhenDue() {
	if !d.set.Discovers || d.busy || d.now.Before(d.due) {
		return
	}
	pause := discoverSeldom
	if d.phase == phaseJoining {
		pause = discoverAgain
	}
	d.busy, d.due = true, d.now.Add(pause)
	d.do(Discover{})
}

// found stores the addresses that discovery has found, and returns the previous ones. It
// ignores an error: the previous addresses stay valid for discoveryHolds.
func (d *discovery) found(ev Found) (before []string, ok bool) {
	d.busy = false
	if ev.Failed {
		return nil, false
	}
	addresses := slices.Compact(slices.Sorted(slices.Values(ev.Addresses)))
	before = d.addresses
	if d.first.IsZero() {
		d.first, d.since = d.now, d.now
	}
	if !slices.Equal(addresses, before) {
		d.addresses, d.since = addresses, d.now
	}
	d.at = d.now
	maps.DeleteFunc(d.last, func(_ string, last time.Time) bool { return d.now.Sub(last) > vanishAfter })
	for _, address := range addresses {
		d.last[address] = d.now
	}
	return before, true
}
