package placement

import (
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// elector returns the election as a function for package singleton.
func elector(e election) func(candidates []singleton.Candidate) (string, bool) {
	return func(candidates []singleton.Candidate) (string, bool) {
		var nodes []Node
		for _, p := range candidates {
			nodes = append(nodes, Node{
				Name: p.Name, Address: p.ID.Address, Incarnation: p.ID.Incarnation, UpNumber: p.UpNumber,
				Roles: p.Roles, Meta: p.Meta, Up: true, Reachable: p.Reachable,
			})
		}
		return e.Leader(home.NewView(nodes))
	}
}
