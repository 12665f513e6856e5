package singleton

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/node"
)

// A Known is what a node knows of one singleton of its cluster, whether it has a manager for
// it or not.
type Known struct {
	Name     string
	Record   Record
	Managers []node.ID // the members that have one, in the order of election
}

// AllKnown returns what the node of s knows of the singletons that some member has a manager
// for, sorted by name; nil without a cluster. It takes time for each singleton and member.
func AllKnown(s *actor.System) []Known {
	o, clustered := extension.Get[*office](s)
	if !clustered {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.directory
	all := map[string]*Known{}
	for _, m := range d.topo.Members {
		for name := range d.row(m.ID).offers {
			k := all[name]
			if k == nil {
				k = &Known{Name: name, Record: d.records[name]}
				all[name] = k
			}
			k.Managers = append(k.Managers, m.ID)
		}
	}
	known := make([]Known, 0, len(all))
	for _, k := range all {
		known = append(known, *k)
	}
	slices.SortFunc(known, func(a, b Known) int { return strings.Compare(a.Name, b.Name) })
	return known
}

// ManagersOf returns the members that have a manager for the singleton of that name, in the
// order of election, as far as the node of s knows; none without a cluster.
func ManagersOf(s *actor.System, name string) []node.ID {
	o, clustered := extension.Get[*office](s)
	if !clustered {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var ids []node.ID
	for _, m := range o.directory.topo.Members {
		if _, offered := o.directory.row(m.ID).offers[name]; offered {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// record returns what is known of a singleton's generations.
func (o *office) record(name string) Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.directory.records[name]
}

// row returns what a member has managers for, as far as it is known.
func (d *directory) row(id node.ID) row {
	if id == d.topo.Self {
		return d.own
	}
	if p, other := d.peers[id]; other {
		return p.row
	}
	return row{}
}
