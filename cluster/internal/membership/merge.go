package membership

import (
	"cmp"
	"maps"
	"slices"
)

// merge adds to t what o knows and t does not, and returns just that. It is commutative,
// associative and idempotent, so changes may arrive late, twice or in any order. A status only
// moves forward, and the lower of two up-numbers wins. Removed members stay removed. Of a row,
// which only one member writes, the newer version wins.
func (t *table) merge(o table) table {
	// Tombstones first: a member that one of them removes must not be in news as well.
	news := newTable(t.cluster)
	for id, dead := range o.tombstones {
		t.remove(id, dead, &news)
	}
	for id, m := range o.members {
		t.admit(id, m, &news)
	}
	for id, r := range o.rows {
		t.takeRow(id, r, &news)
	}
	return news
}

func (t *table) remove(id ID, dead tombstone, news *table) {
	old, known := t.tombstones[id]
	if known {
		dead = old.merge(dead)
	}
	if m, alive := t.members[id]; alive {
		dead = dead.merge(tombstoneOf(m))
	}
	if dead.Clean {
		dead.Roles = nil
	}
	delete(t.members, id)
	delete(t.rows, id)
	if !known || !dead.equal(old) {
		t.tombstones[id], news.tombstones[id] = dead, dead
	}
}

func tombstoneOf(m Member) tombstone {
	return tombstone{Name: m.Name, UpNumber: m.UpNumber, Roles: m.Roles}
}

func (d tombstone) merge(o tombstone) tombstone {
	merged := tombstone{
		Name:     max(d.Name, o.Name),
		UpNumber: lowest(d.UpNumber, o.UpNumber),
		Clean:    d.Clean || o.Clean,
		At:       int64(lowest(uint64(d.At), uint64(o.At))),
	}
	if !merged.Clean {
		merged.Roles = union(d.Roles, o.Roles)
	}
	return merged
}

func (d tombstone) equal(o tombstone) bool {
	return d.Name == o.Name && d.UpNumber == o.UpNumber && d.Clean == o.Clean && d.At == o.At &&
		slices.Equal(d.Roles, o.Roles)
}

// admit adds a member, or what is newer about it. For a removed member it only completes the
// tombstone.
func (t *table) admit(id ID, m Member, news *table) {
	if _, removed := t.tombstones[id]; removed {
		t.remove(id, tombstoneOf(m), news)
		return
	}
	old, known := t.members[id]
	if known {
		m = old.merge(m)
		if m.Status == old.Status && m.UpNumber == old.UpNumber {
			return
		}
	}
	t.members[id], news.members[id] = m, m
}

func (t *table) takeRow(id ID, r row, news *table) {
	if _, removed := t.tombstones[id]; removed {
		return
	}
	if r.Version > t.rows[id].Version {
		t.rows[id], news.rows[id] = r, r
	}
}

// merge joins two states of one incarnation. Its name, roles and metadata never change.
func (m Member) merge(o Member) Member {
	m.Status = max(m.Status, o.Status)
	m.UpNumber = lowest(m.UpNumber, o.UpNumber)
	return m
}

// lowest returns the lower of two numbers, where 0 means that there is no number.
func lowest(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// forget drops tombstones that are older than a Unix time in seconds and that may forget
// accepts. Then it drops the oldest ones above maxTombstones.
func (t *table) forget(before int64, may func(ID) bool) {
	maps.DeleteFunc(t.tombstones, func(id ID, dead tombstone) bool { return dead.At < before && may(id) })
	if len(t.tombstones) <= maxTombstones {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(t.tombstones), func(a, b ID) int {
		return cmp.Or(cmp.Compare(t.tombstones[a].At, t.tombstones[b].At), a.Compare(b))
	})
	for _, id := range oldest[:len(oldest)-maxTombstones] {
		delete(t.tombstones, id)
	}
}

// maxTombstones limits the tombstones to the newest ones, because other nodes refuse a table
// that is too large. Nodes that crash and restart again and again leave many tombstones.
const maxTombstones = MaxMembers / 2

func union[T cmp.Ordered](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
