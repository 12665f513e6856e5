package membership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// Waiting describes for users why nothing progresses: which members are unreachable and what
// will end that, which members must still join, and which have not agreed yet. It is empty if
// nothing is missing.
func (v View) Waiting() string { return strings.Join(v.waiting, "; ") }

func (r Settings) untilDown() string {
	name, delay := guard.Text(r.Downing), DelayOf(r.Downing)
	if delay < 0 {
		return "downing is " + name + ": heal it or call Down"
	}
	return "downing by " + name + " decides when nothing has changed for " + delay.String()
}

func namesOf(members []Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}

func (c *core) publish() {
	c.version++
	c.do(Publish{c.view()})
}

func (c *core) view() View {
	v := View{Version: c.version, Self: c.set.Self, tombstones: maps.Clone(c.table.tombstones)}
	if c.phase != phaseMember {
		v.lost = cmp.Or(c.lost, c.set.Lost)
	}
	switch c.phase {
	case phaseIdle, phaseJoining:
		v.waiting = c.whyWaiting(v)
		v.absent = c.absent
		return v
	case phaseDowned:
		v.Self.Status = Down
		return v
	case phaseDeparting, phaseEnded:
		v.Self.Status = Removed
		return v
	case phaseMember:
	}
	for _, id := range c.table.ids() {
		each := c.table.members[id]
		if id == c.self && each.Status == Up && !c.acting {
			each.Status = Joining
		}
		if id == c.self {
			v.Self = each
		}
		v.Members = append(v.Members, each)
	}
	v.unreachable = c.table.unreachable()
	v.Converged = c.converged
	v.order = c.set.Leader.order(v.Members)
	v.gone = c.uncleanRemovals()
	v.waiting = c.whyWaiting(v)
	return v
}

// uncleanRemovals returns the members that were removed without a sign that they have stopped,
// and since when.
func (c *core) uncleanRemovals() map[ID]time.Time {
	gone := map[ID]time.Time{}
	for id, dead := range c.table.tombstones {
		if !dead.Clean {
			gone[id] = c.removed[id]
		}
	}
	return gone
}

func (c *core) whyWaiting(v View) []string {
	switch {
	case c.phase == phaseJoining:
		return cmp.Or(c.waitingFor, obstacle{why: "looking for a cluster"}).sentences()
	case c.phase != phaseMember:
		return nil
	}
	var why []string
	for _, each := range v.Unreachable() {
		if each.Status < Exiting {
			why = append(why, fmt.Sprintf("%s is unreachable (by %s) and %s", each.Name, strings.Join(namesOf(v.UnreachableBy(each.ID())), ", "), c.set.untilDown()))
		}
	}
	if lacks := c.set.lacks(c.table); len(lacks) > 0 {
		why = append(why, "fewer members than Config.MinMembers and MinMembersOf ask for: "+strings.Join(lacks, ", "))
	}
	if late := c.notSeen(); len(why) == 0 && len(late) > 0 {
		why = append(why, "members have not agreed: waiting for "+strings.Join(late, ", "))
	}
	return why
}

func (c *core) notSeen() []string {
	var late []string
	for _, id := range c.table.voters() {
		if !c.seenBy.has(id) {
			late = append(late, c.table.members[id].Name)
		}
	}
	slices.Sort(late)
	return late
}
