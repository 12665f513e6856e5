package cluster

import (
	"slices"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// knownMembers are the members that a client knows from one contact after the other. A member that
// the current contact has dropped is gone. A member that only an earlier contact knew may be gone
// or not, because a new member does not know all others at first. So it counts until the members
// agree.
type knownMembers struct {
	from     remote.NodeID // the contact that sent members
	members  []remote.NodeID
	doubtful []remote.NodeID // members that only earlier contacts knew
}

func (a *knownMembers) all() []remote.NodeID { return slices.Concat(a.members, a.doubtful) }

// learn applies news. It returns the members, and those that were members before and are gone.
func (a *knownMembers) learn(news contactNews) (all, gone []remote.NodeID) {
	before := a.all()
	a.take(news)
	all = a.all()
	return all, slices.DeleteFunc(before, func(id remote.NodeID) bool { return slices.Contains(all, id) })
}

func (a *knownMembers) take(news contactNews) {
	switch {
	case news.Converged:
		a.doubtful = nil
	case news.From != a.from:
		a.doubtful = append(a.doubtful, a.members...)
	}
	a.from, a.members = news.From, nil
	for _, m := range news.Members {
		a.doubtful = slices.DeleteFunc(a.doubtful, func(p remote.NodeID) bool { return p.Address == m.Member.Address })
		if m.Member.Status < membership.Down {
			a.members = append(a.members, m.Member.ID())
		}
	}
}
