package singletons

import "github.com/understudy-go/understudy/remote"

// Takers shows proxies the members to which they may send. A client sets one as the extension of
// its system; a node has its own.
type Takers interface {
	// Follow returns what one proxy sees of the singleton of that name.
	Follow(name string) Following
}

// A Following shows one proxy the members to which it may send.
type Following interface {
	// Takers returns the members that are up and can be reached, and have a manager for the
	// singleton, in the order of election. From then on the proxy sends to no others: a member that
	// leaves waits for that.
	Takers() []remote.NodeID

	// Leaves reports whether a member leaves: it passes on the messages that it has.
	Leaves(id remote.NodeID) bool

	// Listen calls changed, which must not block, after each change of what Takers returns, until
	// cancel is called. It is called once.
	Listen(changed func()) (cancel func())
}
