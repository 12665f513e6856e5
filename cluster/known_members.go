package cluster

import "slices"

// knownMembers are the members that a client has been told of, by one contact after the other.
// What one contact does not know any more is gone. What the contact before it knew may be gone
// or not: a new member does not know everybody at first. So that counts until the members agree.
type knownMembers struct {
	from     ID // the contact that knows them
	members  []ID
	doubtful []ID // whom only contacts before it have told of
}

// learn returns who is a member, after some news.
func (a *knownMembers) learn(news contactNews) []ID {
	switch {
	case news.Converged:
		a.doubtful = nil
	case news.From != a.from:
		a.doubtful = append(a.doubtful, a.members...)
	}
	a.from, a.members = news.From, nil
	for _, m := range news.Members {
		a.doubtful = slices.DeleteFunc(a.doubtful, func(p ID) bool { return p.Address == m.Member.Address })
		if m.Member.Status < Down {
			a.members = append(a.members, m.Member.ID())
		}
	}
	return slices.Concat(a.members, a.doubtful)
}
