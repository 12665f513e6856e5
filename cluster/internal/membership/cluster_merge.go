package membership

import (
	"bytes"
	"maps"
	"slices"
	"time"
)

// A clusterMerge looks for other clusters of the same name, and decides which of two dissolves.
type clusterMerge struct {
	*core
	contacts  *contacts
	departure *departure

	greetAt     time.Time
	lastGreeted string      // the last address of the last round
	gossip      map[ID]bool // the nodes that gossip reaches
}

// An otherCluster is another cluster, or the other half of this one.
type otherCluster struct {
	cluster ClusterID
	size    int      // members that are up
	homes   []string // addresses of its members, sorted
}

func homes(t table) []string {
	var homes []string
	for _, id := range t.ids() {
		if t.members[id].Status < Down {
			homes = append(homes, id.Address)
		}
	}
	return slices.Compact(homes)
}

// toldDown handles the message that the sender's cluster has taken this node down. If this
// cluster has taken down the sender as well, there are two parts of one cluster, and the
// smaller part dissolves.
func (c *clusterMerge) toldDown(from ID, msg youAreDown) {
	theirs := msg.Table.table()
	if theirs.cluster != c.table.cluster {
		return
	}
	if status := theirs.status(c.self); status != 0 && status < Down {
		return
	}
	if c.table.status(from) < Down {
		c.departure.goDown("removed by the cluster", homes(theirs))
		return
	}
	r := otherCluster{cluster: theirs.cluster, size: theirs.count(Up), homes: homes(theirs)}
	c.compare(from, r, youAreDown{Table: c.table.pack()})
}

// greetWhenDue sends an invitation, every greetEvery, to addresses that should have a member
// and have none: seeds, addresses found by discovery, and addresses of removed members. A node
// that looks for a cluster, or another cluster, may be there. Each round invites up to
// greetAtOnce addresses in turn, so its cost does not grow with the number of lost members. It
// also reconnects gossip, which does not reconnect by itself.
func (c *clusterMerge) greetWhenDue() {
	if c.now.Before(c.greetAt) {
		return
	}
	c.greetAt = c.now.Add(greetEvery)
	for _, address := range turn(c.lost(), c.lastGreeted, greetAtOnce) {
		c.greet(address)
		c.lastGreeted = address
	}
	for _, id := range c.others() {
		if !c.gossip[id] && c.table.members[id].Status < Down {
			c.do(Connect{id.Address})
		}
	}
}

func (c *clusterMerge) lost() []string {
	lost := map[string]bool{}
	for _, address := range slices.Concat(c.contacts.discovery.wanted(), c.set.Known) {
		lost[address] = !c.contacts.isSelf(address)
	}
	for id, dead := range c.table.tombstones {
		if !dead.Clean {
			lost[id.Address] = true
		}
	}
	homes := map[string]bool{}
	for id := range c.table.members {
		homes[id.Address] = true
	}
	maps.DeleteFunc(lost, func(address string, is bool) bool {
		return !is || homes[address] || homes[c.contacts.names[address]]
	})
	return slices.Sorted(maps.Keys(lost))
}

func (c *clusterMerge) greet(address string) {
	c.tell(ID{Address: address}, c.greeting())
}

func (c *clusterMerge) greeting() greeting {
	return greeting{Cluster: c.table.cluster, Size: uint64(c.table.count(Up))}
}

// greeted handles a greeting from another cluster by comparing the clusters. A sender that this
// cluster has taken down is told so.
func (c *clusterMerge) greeted(from ID, g greeting) {
	switch {
	case c.phase != phaseMember:
	case g.Cluster != c.table.cluster:
		c.compare(from, otherCluster{cluster: g.Cluster, size: int(g.Size), homes: []string{from.Address}}, c.greeting())
	case c.table.status(from) >= Down:
		c.tell(from, youAreDown{Table: c.table.pack()})
	}
}

// compare decides which of two clusters dissolves: the smaller one; of two equally large
// clusters, the one with the greater ID; of two halves of one cluster, the one without the
// lowest address. The cluster that stays replies, so that the other one makes the same
// comparison.
func (c *clusterMerge) compare(from ID, r otherCluster, reply message) {
	if !c.yields(r) {
		c.tell(from, reply)
		return
	}
	c.do(Note{Warn: true, Text: "dissolving, as there is another cluster", Address: from.Address})
	for _, id := range c.others() {
		c.tell(id, dissolve{Instead: r.homes})
	}
	c.departure.goDown("there is another cluster", r.homes)
}

func (c *clusterMerge) yields(r otherCluster) bool {
	if ours := c.table.count(Up); ours != r.size {
		return ours < r.size
	}
	if order := bytes.Compare(c.table.cluster[:], r.cluster[:]); order != 0 {
		return order > 0
	}
	return slices.Compare(homes(c.table), r.homes) > 0
}

func (c *clusterMerge) connected(ev Connected) {
	if ev.On {
		c.gossip[ev.ID] = true
	} else {
		delete(c.gossip, ev.ID)
	}
}
