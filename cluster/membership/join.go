package membership

import (
	"slices"
	"time"
)

// A join is how a node that looks for a cluster gets into one: it asks all that may be in
// one, until a member lets it in, or it founds one.
type join struct {
	*core
	contacts  *contacts
	group     *seedGroup
	bootstrap *bootstrap
	departure *departure

	next     time.Time // when all are asked again
	last     string    // who was asked last, when not all are asked at once
	replaces []uint64  // what the answers told us to replace
	taken    time.Time // since when our name is said to be taken
	told     string    // what the node waits for that was logged last
	tellAt   time.Time // when the next may be
}

// turn returns up to n of all, which are sorted: those that come after the last one, as if
// they stood in a circle.
func turn(all []string, last string, n int) []string {
	i, found := slices.BinarySearch(all, last)
	if found {
		i++
	}
	return slices.Concat(all[i:], all[:i])[:min(n, len(all))]
}

// askedBySelf: one of the seeds is this very node under another name.
func (j *join) askedBySelf(r joinRequest) {
	if j.phase == phaseJoining && !j.contacts.aliases[r.To] {
		j.contacts.aliases[r.To] = true
		clear(j.contacts.negative) // others were asked as if by a node that follows
		j.bootstrap.foundIfAlone()
	}
}

// deny notes that there is no cluster at an address.
func (j *join) deny(address string) {
	j.contacts.negative[address] = j.now
	j.bootstrap.foundIfAlone()
}

// askBack asks who has just asked, and is in no cluster either, if this node waits for
// nothing else to found one.
func (j *join) askBack(address string) {
	if j.bootstrap.mayFound() && slices.Contains(j.contacts.unheard(), address) {
		j.askOne(address)
	}
}

// sayWhy tells people what the node is waiting for.
func (j *join) sayWhy() {
	why := j.bootstrap.obstacle()
	if why != j.waitingFor {
		j.waitingFor, j.absent = why, j.contacts.absent()
		j.publish()
	}
	if why != "" && why != j.told && !j.now.Before(j.tellAt) {
		j.told, j.tellAt = why, j.now.Add(tellEvery)
		j.do(Note{Warn: true, Text: "still looking for a cluster", Reason: why})
	}
}

// foundWithout does what an operator wants, or says why not.
func (j *join) foundWithout(addresses []string) error {
	if err := j.contacts.mayBeGone(addresses); err != nil {
		return err
	}
	for _, address := range addresses {
		j.contacts.gone[address] = true
		j.do(Note{Text: "an operator has said that a node is gone: its answer is not waited for", Address: address})
	}
	j.askAround()
	if j.phase == phaseJoining {
		j.sayWhy()
	}
	return nil
}

// askFound asks at once those who were not found before.
func (j *join) askFound(before []string) {
	n := 0
	for _, address := range j.contacts.targets() {
		_, old := slices.BinarySearch(before, address)
		if !old && slices.Contains(j.contacts.discovery.addresses, address) && n < askAtOnce {
			j.askOne(address)
			n++
		}
	}
}

// begin begins to ask all seeds, and where members lived before, for a cluster to join.
func (j *join) begin() {
	j.phase = phaseJoining
	j.bootstrap.started = j.now
	for _, address := range slices.Concat(j.set.Seeds, j.set.Known) {
		j.contacts.ask(address)
	}
	j.askAround()
	j.contacts.discovery.discoverWhenDue()
	j.publish()
}

func (j *join) askWhenDue() {
	if !j.now.Before(j.next) {
		j.askAround()
	}
}

// askAround asks everybody at once; but a node that founds nothing needs not hear from all
// of them, and asks a few at a time.
func (j *join) askAround() {
	pause := askAgain
	if j.now.Sub(j.bootstrap.started) >= askPatience {
		pause = askSeldom
		j.sayWhy()
	}
	j.next = j.now.Add(pause)
	for _, address := range j.round() {
		j.askOne(address)
	}
	j.bootstrap.foundIfAlone()
}

// round returns the nodes that are asked this time: all by a node that founds a cluster; else all seeds, where
// they are few, as their lists are needed at once, and some of the others in turn.
func (j *join) round() []string {
	asked := j.contacts.targets()
	if len(asked) <= askAtOnce || j.bootstrap.foundsAs() != 0 {
		return asked
	}
	var always []string
	if len(j.set.Seeds) <= askAtOnce/2 {
		isSeed := func(address string) bool { return slices.Contains(j.set.Seeds, address) }
		always = slices.DeleteFunc(slices.Clone(asked), func(a string) bool { return !isSeed(a) })
		asked = slices.DeleteFunc(asked, isSeed)
	}
	slices.Sort(asked)
	some := turn(asked, j.last, askAtOnce-len(always))
	j.last = some[len(some)-1]
	return slices.Concat(always, some)
}

func (j *join) askOne(address string) {
	self := j.set.Self
	j.tell(ID{Address: address}, joinRequest{
		To:        address,
		Name:      self.Name,
		Roles:     self.Roles,
		Meta:      self.Meta,
		Agreement: j.set.agreement(),
		Replaces:  j.replaces,
		FoundsAs:  j.bootstrap.foundsAs(),
		Gone:      j.contacts.goneNodes(),
	})
}

// answered handles the answer to a question.
func (j *join) answered(from ID, a joinAnswer) {
	if j.phase != phaseJoining {
		return
	}
	j.contacts.names[a.To] = from.Address
	j.contacts.noteHeard(from.Address)
	if a.Verdict == notMember {
		j.group.listed(from, a)
	} else {
		j.bootstrap.joinable = j.now
		delete(j.group.lists, from.Address)
	}
	switch a.Verdict {
	case welcome:
		if t := a.Table.table(); t.members[j.self].Status != 0 {
			j.enter(t)
		}
	case notMember:
		j.deny(a.To)
	case replace:
		j.replaces = union(j.replaces, a.Replaces)
		j.askOne(a.To)
	case nameTaken:
		j.nameTaken(a)
	case refused:
		j.departure.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	case buried:
		j.departure.rejoin = j.set.Rejoin
		j.departure.finish(nil)
	case busy:
	}
}

// nameTaken gives up when another member keeps our name: it is not an earlier incarnation
// of this node that is about to be removed.
func (j *join) nameTaken(a joinAnswer) {
	switch {
	case j.taken.IsZero():
		j.taken = j.now
		j.do(Note{Warn: true, Text: "name is taken", Address: a.To, Reason: a.Reason})
	case j.now.Sub(j.taken) >= namePatience:
		j.departure.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	}
}

// foundAddresses takes over what discovery has found, and asks at once who is new.
func (j *join) foundAddresses(ev Found) {
	before, ok := j.contacts.discovery.found(ev)
	if ok && j.phase == phaseJoining {
		j.askFound(before)
		j.bootstrap.foundIfAlone()
	}
}

// answerJoiner answers a node that asks to join while this node looks for a cluster itself.
func (j *join) answerJoiner(from ID, r joinRequest) joinAnswer {
	j.contacts.noteHeard(from.Address)
	j.contacts.learnGone(r.Gone)
	j.askBack(from.Address)
	return j.group.denyTo(from, r)
}

// dialFailed: an address cannot be connected. That nobody listens there is an answer;
// that it belongs to another cluster is one as well, except for a seed. That one of us
// does not trust the other is none: there may well be our cluster.
func (j *join) dialFailed(ev DialFailed) {
	switch {
	case j.phase != phaseJoining:
	case ev.Foreign+ev.Mistrust != "" && slices.Contains(j.set.Seeds, ev.Address) && len(j.set.Earlier) == 0:
		j.departure.finish(&RefusedError{Address: ev.Address, Reason: ev.Foreign + ev.Mistrust})
	case ev.Mistrust != "":
	case ev.Foreign != "" || ev.Refused:
		j.deny(ev.Address)
	}
}
