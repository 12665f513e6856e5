package membership

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A join gets a node that looks for a cluster into one. It asks all nodes that may be in a
// cluster, until a member admits it, or it founds a cluster itself.
type join struct {
	*core
	contacts  *contacts
	group     *seedGroup
	bootstrap *bootstrap
	departure *departure

	next     time.Time // when the next round of questions is due
	last     string    // the last address of the previous round, if rounds do not ask all
	replaces []uint64  // the incarnations that the answers told this node to replace
	taken    time.Time // since when answers say that this node's name is taken
	told     obstacle  // the one that was logged last
	tellAt   time.Time // when the next obstacle may be logged
}

// turn returns up to n elements of all, which is sorted: those after last, continuing at the
// start.
func turn(all []string, last string, n int) []string {
	i, found := slices.BinarySearch(all, last)
	if found {
		i++
	}
	return slices.Concat(all[i:], all[:i])[:min(n, len(all))]
}

// askedBySelf handles a request of this node to itself: the address asked is an alias of this
// node.
func (j *join) askedBySelf(r joinRequest) {
	if j.phase == phaseJoining && !j.contacts.aliases[r.To] {
		j.contacts.aliases[r.To] = true
		clear(j.contacts.negative) // earlier answers went to a node that seemed to be a follower
		j.bootstrap.foundIfAlone()
	}
}

func (j *join) deny(address string) {
	j.contacts.negative[address] = j.now
	j.bootstrap.foundIfAlone()
}

// askBack asks a node that has just asked and is in no cluster either, if this node may found
// one and still needs its answer.
func (j *join) askBack(address string) {
	if j.bootstrap.mayFound() && slices.Contains(j.contacts.unheard(), address) {
		j.askOne(address)
	}
}

func (j *join) sayWhy() {
	why := j.bootstrap.obstacle()
	if why != j.waitingFor {
		j.waitingFor, j.absent = why, j.contacts.absent()
		j.publish()
	}
	if why != (obstacle{}) && why != j.told && !j.now.Before(j.tellAt) {
		j.told, j.tellAt = why, j.now.Add(tellEvery)
		j.do(Note{Warn: true, Text: "still looking for a cluster", Reason: why.why, Advice: why.advice})
	}
}

// foundWithout declares nodes gone on behalf of an operator, or returns why it cannot.
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

// begin starts to look for a cluster: it asks all seeds, and the addresses of former members.
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

// askAround asks the nodes of one round. A node that may found a cluster asks all nodes,
// because it needs all answers; any other node asks a few at a time.
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

// round returns the nodes to ask this time. A node that founds a cluster asks all of them. Any
// other node asks up to askAtOnce: all seeds if they are few, because their lists are needed at
// once, and some of the others in turn.
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

		AppVersion: self.AppVersion,
	})
}

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

// nameTaken ends this incarnation if another member keeps its name for namePatience. That
// member is then not an earlier incarnation of this node that is about to be removed.
func (j *join) nameTaken(a joinAnswer) {
	switch {
	case j.taken.IsZero():
		j.taken = j.now
		j.do(Note{Warn: true, Text: "name is taken", Address: a.To, Reason: a.Reason})
	case j.now.Sub(j.taken) >= namePatience:
		j.departure.finish(&RefusedError{Address: a.To, Reason: a.Reason})
	}
}

func (j *join) foundAddresses(ev Found) {
	before, ok := j.contacts.discovery.found(ev)
	if ok && j.phase == phaseJoining {
		j.askFound(before)
		j.bootstrap.foundIfAlone()
	}
}

func (j *join) answerJoiner(from ID, r joinRequest) joinAnswer {
	j.contacts.noteHeard(from.Address)
	j.contacts.learnGone(r.Gone)
	j.askBack(from.Address)
	return j.group.denyTo(from, r)
}

// dialFailed handles a failed connection. If no process listens at the address, there is no
// cluster. The same holds if the process there belongs to another cluster. If the address is a
// seed of the first incarnation, a foreign process or missing trust ends the attempt. Otherwise
// missing trust is no answer, because the cluster may still be there.
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

// A RefusedError is cluster.RefusedError: a member does not admit this node, now or later.
type RefusedError struct {
	Address string
	Reason  string
}

// Error returns the address of the node that refuses, and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster: refused by %s: %s", e.Address, e.Reason)
}

// ErrNotJoining means that a node should found a cluster, but is in one already or is stopping.
var ErrNotJoining = errors.New("cluster: the node does not look for a cluster")
