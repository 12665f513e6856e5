package cluster

import "slices"

// knownMembers are the members that a client knows from one contact after the other. A member that
// the current contact has dropped is gone. A member that only an earlier contact knew may be gone
// or not, because a new member does not know all others at first. So it counts until the members
// agree.
type knownMembers struct {
	from     ID // the contact that sent members
	members  []ID
	doubtful []ID // members that only earlier contacts knew
	leaving  []ID // those that have said so themselves
}

// leaves notes that a member has said that it leaves.
func (a *knownMembers) leaves(id ID) {
	if !slices.Contains(a.leaving, id) {
		a.leaving = append(a.leaving, id)
	}
}

// correct returns news in which a member leaves as soon as it has said so: the contact may not know
// it yet. That holds until the member is gone, although a contact that has just joined may not know
// the member first, and then take it for one that is up.
func (a *knownMembers) correct(news contactNews) contactNews {
	news.Members = slices.Clone(news.Members)
	for i, m := range news.Members {
		if slices.Contains(a.leaving, m.Member.ID()) {
			news.Members[i].Member.Status = max(m.Member.Status, Leaving)
		}
	}
	return news
}

// all returns the members, doubtful ones included.
func (a *knownMembers) all() []ID { return slices.Concat(a.members, a.doubtful) }

// learn applies news. It returns the members, and those that were members before and are gone.
func (a *knownMembers) learn(news contactNews) (all, gone []ID) {
	before := a.all()
	a.take(news)
	all = a.all()
	a.leaving = slices.DeleteFunc(a.leaving, func(id ID) bool { return !slices.Contains(all, id) })
	return all, slices.DeleteFunc(before, func(id ID) bool { return slices.Contains(all, id) })
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
		a.doubtful = slices.DeleteFunc(a.doubtful, func(p ID) bool { return p.Address == m.Member.Address })
		if m.Member.Status < Down {
			a.members = append(a.members, m.Member.ID())
		}
	}
}
