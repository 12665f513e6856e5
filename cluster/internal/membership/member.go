package membership

import (
	"slices"

	"github.com/understudy-go/understudy/remote"
)

// An ID identifies a member: another incarnation at the same address is another member.
type ID = remote.NodeID

// A Status is the stage of a member. Within an incarnation it only moves forward.
type Status uint8

// The statuses of a member. A node that looks for a cluster has none of them.
const (
	Joining Status = iota + 1 // known to the cluster and learning from it, but not active yet
	Up                        // a full member
	Leaving                   // handing over what it runs
	Exiting                   // its singletons have ended; its other actors are being stopped
	Down                      // declared dead: it must stop what it runs
	Removed                   // no longer a member, for good
)

// String returns the name of the status in lower case.
func (s Status) String() string {
	switch s {
	case Joining:
		return "joining"
	case Up:
		return "up"
	case Leaving:
		return "leaving"
	case Exiting:
		return "exiting"
	case Down:
		return "down"
	case Removed:
		return "removed"
	}
	return "none"
}

// A Member is one incarnation of a node, as the cluster sees it. Treat it as a value: its
// slices and maps are shared and must not be changed.
type Member struct {
	_           struct{} `cbor:",toarray"`
	Name        string   // Config.NodeID
	Address     string   // host:port, as the node advertises itself
	Incarnation uint64   // random: it does not tell which of two incarnations is later
	Status      Status
	UpNumber    uint64            // the order in which members came up: the oldest has the lowest; 0 while joining
	Roles       []string          // Config.Roles
	Meta        map[string]string // Config.Meta
	Downing     []string          // the name of Config.Downing; two during a downing.Transition
	AppVersion  string            // Config.AppVersion
}

// ID returns the identity of m.
func (m Member) ID() ID { return ID{Address: m.Address, Incarnation: m.Incarnation} }

// HasRole reports whether m has a role. Every member has the empty role.
func (m Member) HasRole(role string) bool { return role == "" || slices.Contains(m.Roles, role) }
