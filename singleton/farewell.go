package singleton

import "github.com/understudy-go/understudy/internal/node"

// A farewell is what a manager does before its node leaves, so that no message is lost by
// that: it has told all members that they are to send nothing here any more, and knows
// that what it has sent itself is with an instance. Who answers the first has nothing
// under way to here, as messages between two nodes stay in order. It is pure.
type farewell struct {
	said  bool             // there is something to be told
	known map[node.ID]bool // who has answered

	number uint64  // of the question under way, or of the last one
	to     node.ID // who is asked whether all that was sent there is settled; zero when nobody is
	sends  uint64  // what had been sent when it was asked
	rounds int     // how many questions have been answered
}

// maxFarewells bounds the questions, as there may be actors that go on telling something.
const maxFarewells = 10

// say begins to take leave; hosted says that others may send messages here.
func (f *farewell) say(hosted bool) (tell bool) {
	if f.said || !hosted {
		return false
	}
	f.said, f.known = true, make(map[node.ID]bool)
	return true
}

// heard notes that a member sends nothing here any more.
func (f *farewell) heard(from node.ID) {
	if f.said {
		f.known[from] = true
	}
}

// unaware returns who has not answered yet.
func (f *farewell) unaware(topo Topology) []node.ID {
	var ids []node.ID
	for _, p := range topo.Members {
		if f.said && p.ID != topo.Self && p.Reachable && !f.known[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// ask reports whether sentTo is to be asked about what was sent there, and whether there
// is something to wait for at all; sends counts what has been sent.
func (f *farewell) ask(sentTo node.ID, sends uint64) (ask, waits bool) {
	switch {
	case sentTo == node.ID{} || f.rounds >= maxFarewells:
		return false, false
	case f.to == sentTo:
		return false, true
	case f.rounds > 0 && f.sends == sends:
		return false, false
	}
	f.number++
	f.to, f.sends = sentTo, sends
	return true, true
}

// settled notes the answer to a question.
func (f *farewell) settled(number uint64) {
	if number == f.number && f.to != (node.ID{}) {
		f.to = node.ID{}
		f.rounds++
	}
}
