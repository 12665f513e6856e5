package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// Waiting says, for people, why nothing moves: who is unreachable and what ends that,
// which members must still come, who has not agreed yet. It is empty when all is well.
func (v View) Waiting() string { return strings.Join(v.waiting, "; ") }

// whyWaiting explains what this node is waiting for.
func (m *machine) whyWaiting(v View) []string {
	switch {
	case m.phase == seeking:
		return []string{cmp.Or(m.questions.waits, "looking for a cluster")}
	case m.phase != member:
		return nil
	}
	var why []string
	for _, each := range v.Unreachable() {
		if each.Status < Exiting {
			why = append(why, fmt.Sprintf("%s is unreachable (by %s) and %s", each.Name, strings.Join(namesOf(v.UnreachableBy(each)), ", "), m.set.untilDown()))
		}
	}
	if lacks := m.set.lacks(m.table); len(lacks) > 0 {
		why = append(why, "fewer members than Config.MinMembers and MinMembersOf ask for: "+strings.Join(lacks, ", "))
	}
	if late := m.late(); len(why) == 0 && len(late) > 0 {
		why = append(why, "members have not agreed: waiting for "+strings.Join(late, ", "))
	}
	return why
}

// untilDown says what ends it that a member is unreachable.
func (r rules) untilDown() string {
	if r.downing.Delay() < 0 {
		return "downing is " + r.downing.String() + ": heal it or call Down"
	}
	return "downing by " + r.downing.String() + " decides when nothing has changed for " + r.downing.Delay().String()
}

// late returns the names of the members that are not known to have what this node has.
func (m *machine) late() []string {
	var late []string
	for _, id := range m.table.voters() {
		if !m.witnesses.has(id) {
			late = append(late, m.table.members[id].Name)
		}
	}
	slices.Sort(late)
	return late
}

// lasting is how long the same must have been waited for before it is logged.
const lasting = 5 * time.Second

// A patience notices when something is being waited for that does not come.
type patience struct {
	why   string
	since time.Time
	told  bool
}

// lost reports, once, that the same has been waited for too long.
func (p *patience) lost(why string, now time.Time) bool {
	if why != p.why {
		*p = patience{why: why, since: now}
	}
	if why == "" || p.told || now.Sub(p.since) < lasting {
		return false
	}
	p.told = true
	return true
}

// explain logs what this node is waiting for, when it has been for a while.
func (l *life) explain(now time.Time) {
	if why := l.node.View().Waiting(); l.patience.lost(why, now) {
		l.node.log.Warn("waiting", zap.String("reason", why))
	}
}
