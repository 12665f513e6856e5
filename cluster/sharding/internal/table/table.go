package table

import (
	"github.com/understudy-go/understudy/remote"
)

// A Table is the table as a node has it. The zero value is empty.
type Table struct {
	version Version
	types   map[string]Entry
}

// An Entry has the homes of one type.
type Entry struct {
	Type
	Homes []Home // by shard
}

// Version returns the version of the last update.
func (t *Table) Version() Version { return t.version }

// Of returns the homes of a type. It returns false while the coordinator knows of no node that can
// host it. The caller must not change the slice, which later updates do not change.
func (t *Table) Of(typ string) (e Entry, ok bool) {
	e, ok = t.types[typ]
	return e, ok
}

// Apply takes an update. It returns the names of the types that it has changed. It ignores an
// update of an earlier coordinator, one that is no news, one that leaves out changes, and one that
// makes no sense.
func (t *Table) Apply(u Update) (changed []string) {
	whole := u.From.N == 0
	switch {
	case !t.version.Less(u.To), u.From.Epoch != u.To.Epoch, !whole && (u.From.Epoch != t.version.Epoch || t.version.Less(u.From)), !u.valid():
		return nil
	}
	if whole || t.types == nil {
		t.types = t.homeless()
	}
	for _, c := range u.Types {
		t.types[c.Type.Name] = c.applied(t.types[c.Type.Name], u.Nodes)
		changed = append(changed, c.Type.Name)
	}
	t.version = u.To
	return changed
}

// homeless returns the types with no homes, before a whole table is applied: shards that it lacks
// have no home any more.
func (t *Table) homeless() map[string]Entry {
	all := map[string]Entry{}
	for name, e := range t.types {
		e.Homes = make([]Home, len(e.Homes))
		all[name] = e
	}
	return all
}

func (c Changes) applied(to Entry, nodes []remote.NodeID) Entry {
	homes := make([]Home, c.Type.Shards)
	if to.sameHomes(c.Type) {
		copy(homes, to.Homes)
	}
	for _, h := range c.Homes {
		homes[h.Shard] = Home{Generation: h.Generation}
		if h.Node > 0 {
			homes[h.Shard].Node = nodes[h.Node-1]
		}
	}
	return Entry{Type: c.Type, Homes: homes}
}

// MaxShards is how many shards a type may have.
const MaxShards = 1024

func (u Update) valid() bool {
	for _, c := range u.Types {
		if c.Type.Shards < 1 || c.Type.Shards > MaxShards {
			return false
		}
		for _, h := range c.Homes {
			if h.Shard < 0 || h.Shard >= c.Type.Shards || h.Node < 0 || h.Node > len(u.Nodes) {
				return false
			}
		}
	}
	return true
}
