package cluster

import (
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/remote"
)

// A Status is the stage of a member. Within an incarnation it only moves forward, and may skip
// some.
type Status uint8

// The statuses of a member. A node that looks for a cluster has none of them.
const (
	Joining = Status(membership.Joining) // known to the cluster and learning from it, but not active yet
	Up      = Status(membership.Up)      // a full member
	Leaving = Status(membership.Leaving) // handing over what it runs
	Exiting = Status(membership.Exiting) // its singletons have ended; its other actors are being stopped
	Down    = Status(membership.Down)    // declared dead: it must stop what it runs
	Removed = Status(membership.Removed) // no longer a member, for good
)

// String returns the name of the status in lower case.
func (s Status) String() string { return membership.Status(s).String() }

// A Member is one incarnation of a node, as the cluster sees it. Treat it as a value: its
// slices and maps are shared and must not be changed.
type Member struct {
	Name        string // Config.NodeID
	Address     string // host:port, as the node advertises itself
	Incarnation uint64 // random: it does not tell which of two incarnations is later
	Status      Status
	UpNumber    uint64            // the order in which members came up: the oldest has the lowest; 0 while joining
	Roles       []string          // Config.Roles
	Meta        map[string]string // Config.Meta
	Downing     []string          // the name of Config.Downing; two during a downing.Transition
	AppVersion  string            // Config.AppVersion
}

// ID returns the identity of m.
func (m Member) ID() remote.NodeID {
	return remote.NodeID{Address: m.Address, Incarnation: m.Incarnation}
}

// HasRole reports whether m has a role. Every member has the empty role.
func (m Member) HasRole(role string) bool { return role == "" || slices.Contains(m.Roles, role) }

func memberOf(m membership.Member) Member {
	return Member{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: Status(m.Status), UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Downing: m.Downing, AppVersion: m.AppVersion,
	}
}

func membersOf(members []membership.Member) []Member {
	var all []Member
	for _, m := range members {
		all = append(all, memberOf(m))
	}
	return all
}

func (m Member) inside() membership.Member {
	return membership.Member{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: membership.Status(m.Status), UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Downing: m.Downing, AppVersion: m.AppVersion,
	}
}
