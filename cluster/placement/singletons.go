package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// singletons is the workload that keeps singletons at their anchors. It finds the singleton of each
// input. Each singleton that a change concerns takes a step, in which it decides what to do next;
// see [singleton].
type singletons struct {
	cfg    plannerConfig
	nodes  *home.Nodes
	isSpec func(label string) bool
	all    map[string]*managed
	claims claims

	changed map[string]*managed // whose record may have changed
	held    []home.Input        // requests that wait until enough is known to answer them
}

func newSingletons(cfg plannerConfig, f *home.Nodes) *singletons {
	return &singletons{
		cfg: cfg, nodes: f, all: map[string]*managed{}, claims: claims{open: map[uint64]*claim{}},
		changed: map[string]*managed{},
	}
}

// add adds a singleton. Its terms continue those of an earlier one of its label.
func (s *singletons) add(label string) *managed {
	was, _ := s.nodes.Record(ofSingleton + label)
	x := &managed{in: s, label: label, granted: grant{was.Owner, was.Granted}, askedGeneration: was.Generation}
	s.all[label] = x
	x.touch()
	return x
}

// Owns reports whether a singleton of that label exists, or an instance of one is still ending.
func (s *singletons) Owns(label string) bool { return s.all[label] != nil }

// ownership returns where a singleton is. It returns false if no singleton has that label.
func (s *singletons) ownership(label string) (Ownership, bool) {
	x := s.all[label]
	if x == nil || !x.registered {
		return Ownership{}, false
	}
	return x.ownership(), true
}

func (s *singletons) Handle(in home.Input) {
	switch in := in.(type) {
	case home.Recovered:
		s.begin()
	case startSingleton, moveSingleton, stopSingleton:
		s.held = append(s.held, in)
		s.nodes.Waits(tokenOf(in), home.Unsettled)
	case termClaimed:
		s.claims.end(in)
	case withdrawn:
		if label, is := strings.CutPrefix(in.fact.Key, ofSingleton); is {
			s.withdraw(label, in.fact)
		}
	}
}

// Serve serves the held requests.
func (s *singletons) Serve() {
	held := s.held
	s.held = nil
	for _, in := range held {
		s.apply(in)
	}
}

// begin continues from the records. An instance may run where the last one was requested, until its
// node has reported that it does not.
func (s *singletons) begin() {
	for _, key := range s.nodes.Keys() {
		r, _ := s.nodes.Record(key)
		if label, is := strings.CutPrefix(key, ofSingleton); is && (!r.Ended || r.Node != "") {
			s.add(label).revive(r)
		}
	}
}

// withdraw undoes what a fact with a spec has changed, which the journal rejects.
func (s *singletons) withdraw(label string, f home.Fact) {
	was := s.nodes.Undo(f.Key)
	if was == nil || f.Record.Request != was.Request {
		s.nodes.Forget(f.Record.On(), label)
	}
	delete(s.all, label)
	if was != nil && !was.Ended {
		s.add(label).revive(*was)
	}
}

// apply handles a request.
func (s *singletons) apply(in home.Input) {
	switch in := in.(type) {
	case startSingleton:
		s.start(in)
	case moveSingleton:
		s.move(in)
	case stopSingleton:
		s.stop(in)
	}
}

// reply answers a request. Token 0 belongs to no request.
func (s *singletons) reply(to home.Token, value any, err error) {
	if to != 0 {
		s.nodes.Reply(to, value, err)
	}
}

// start handles a StartSingleton request.
func (s *singletons) start(in startSingleton) {
	if err := in.Spec.Validate(); err != nil {
		s.reply(in.Token, nil, fmt.Errorf("%w: %w", ErrInvalid, err))
		return
	}
	label := in.Spec.Label
	if s.isSpec(label) {
		s.reply(in.Token, nil, fmt.Errorf("%w: %q is a spec; choose another label, or remove the spec", ErrExists, label))
		return
	}
	owner, err := in.Spec.Anchor.resolve(label, s.nodes.View(), s.cfg.Election, nil)
	x := s.all[label]
	grants := claim{purpose: toStart, owner: owner.Name, spec: in.Spec, token: in.Token}
	switch {
	case x != nil && x.busy(owner.Name):
		s.reply(in.Token, nil, inProgress(label))
	case x != nil && x.asking != nil:
		x.queue(in)
	case err != nil:
		s.reply(in.Token, nil, err)
	case x == nil:
		s.add(label).claim(grants)
	case x.moving():
		s.reply(in.Token, x.ownership(), nil)
	case x.grant.owner == owner.Name && x.phase() == SingletonActive && x.renew(): // its instance continues
		x.spec = in.Spec
		s.reply(in.Token, x.ownership(), nil)
	case x.grant.owner == owner.Name && x.phase() != SingletonActive && x.spec.equal(in.Spec): // it is starting
		s.reply(in.Token, x.ownership(), nil)
	default:
		x.claim(grants)
	}
}

// move handles a MoveSingleton request. The reply is sent when the old instance is being stopped.
func (s *singletons) move(in moveSingleton) {
	x, err := s.idle(in.Label)
	if err != nil {
		s.reply(in.Token, nil, err)
		return
	}
	if x.asking != nil {
		x.queue(in)
		return
	}
	if x.grant.owner == "" {
		s.reply(in.Token, nil, fmt.Errorf("%w: %q starts as soon as its anchor %v allows", ErrNoOwner, in.Label, x.spec.Anchor))
		return
	}
	owner, err := x.spec.Anchor.resolve(in.Label, s.nodes.View(), s.cfg.Election, nil)
	switch {
	case err != nil:
		s.reply(in.Token, nil, err)
	case owner.Name == x.grant.owner:
		s.reply(in.Token, x.ownership(), nil)
	default:
		x.claim(claim{purpose: toMove, owner: owner.Name, token: in.Token})
	}
}

// stop handles a StopSingleton request. The reply is sent when the instance has ended.
func (s *singletons) stop(in stopSingleton) {
	x, err := s.idle(in.Label)
	switch {
	case err != nil:
		s.reply(in.Token, nil, err)
	case x.asking != nil:
		x.queue(in)
	default:
		x.ending, x.nextGrant = true, grant{}
		x.resetFailures()
		x.startDrain()
		x.stopTokens = append(x.stopTokens, in.Token)
		x.touch()
	}
}

// idle returns the singleton of a label, if it is not being moved or stopped.
func (s *singletons) idle(label string) (*managed, error) {
	x := s.all[label]
	switch {
	case x == nil, !x.registered && !x.ending && x.asking == nil:
		return nil, fmt.Errorf("%w: there is no singleton %q", ErrNotFound, label)
	case x.ending, x.moving(), x.asking.is(toMove) && x.asking.token != 0:
		return nil, inProgress(label)
	}
	return x, nil
}

func inProgress(label string) error {
	return fmt.Errorf("%w: singleton %q is being moved or stopped; try again when it has been", ErrInProgress, label)
}

// Told follows what becomes of the last instance. One that does not start or has ended starts again
// on the same node after a delay. The delay doubles each time, unless the instance has run for
// [plannerConfig.RetryMax].
func (s *singletons) Told(o home.Outcome) {
	x := s.all[o.Label]
	if x == nil {
		return
	}
	x.touch()
	last := x.request == o.ID && x.on == o.On
	switch {
	case o.What == home.Refused: // a full report says which later generation the node has
		x.backOff(fmt.Sprintf("%s does not stop it: %s", o.On.Name, o.Why.Text))
		s.nodes.RequestFullReport(o.On)
	case o.What == home.Runs && last:
		x.why, x.failed, x.since = "", nil, s.nodes.Now()
	case o.What == home.Failed && last && x.stays():
		x.rise(o.Why.FencedBy)
		x.failed = append(x.failed, o.On.Name)
		x.backOff(fmt.Sprintf("it did not start on %s: %s", o.On.Name, o.Why.Text))
	case o.What == home.Quit && last && x.stays():
		if s.nodes.Now().Sub(x.since) >= s.cfg.RetryMax {
			x.attempts = 0
		}
		x.rise(o.Why.FencedBy)
		x.backOff(fmt.Sprintf("it has ended on %s: %s", o.On.Name, cmp.Or(o.Why.Text, home.StoppedItself)))
	}
}

// Lost removes the owner of each singleton that ran on the node. Its anchor names the next one.
func (s *singletons) Lost(on home.NodeID) {
	for _, x := range s.all {
		if x.on != on {
			continue
		}
		x.touch()
		if x.expected { // it has no place, but a former coordinator has started it there
			s.nodes.Left(x.label, on, nodeLost, s.nodes.Now())
		}
		x.expected = false
		if x.stays() && !x.unused {
			x.unplace()
		}
	}
}

// Leaving reports whether an instance is about to be moved away from a node.
func (s *singletons) Leaving(on home.NodeID) bool {
	for _, x := range s.all {
		if _, ok := x.moveTarget(); ok && x.on == on {
			return true
		}
	}
	return false
}

// Unwanted: a singleton decides itself what becomes of an orphan of its label.
func (s *singletons) Unwanted(string) bool { return false }

func (s *singletons) MoreRoom() {
	for label := range s.all {
		s.nodes.Touch(label)
	}
}

func (s *singletons) Review(label string) {
	if x := s.all[label]; x != nil {
		x.step()
		s.keep(x)
	}
}

// remove forgets a singleton that has ended, and answers the requests that wait for its end.
func (s *singletons) remove(x *managed) {
	delete(s.all, x.label)
	s.nodes.GiveUp(x.label)
	for _, to := range x.stopTokens {
		s.reply(to, nil, nil)
	}
}

// keep notes that the record of x may have changed, says why the requests that wait for its end do,
// and sets when x takes its next step.
func (s *singletons) keep(x *managed) {
	s.changed[x.label] = x
	if s.all[x.label] == x {
		for _, to := range x.stopTokens {
			s.nodes.Waits(to, cmp.Or(x.why, s.nodes.Awaited(x.label), x.on.Name+" has not reported what it runs"))
		}
	}
	if at, ok := x.next(); ok && s.all[x.label] == x {
		s.nodes.Wake(x.label, at)
	}
}

// store puts the records that have changed.
func (s *singletons) store() {
	for _, label := range slices.Sorted(maps.Keys(s.changed)) {
		if now := s.changed[label].record(); now.Granted != (singleton.Generation{}) {
			s.nodes.Put(ofSingleton+label, &now)
		}
	}
	clear(s.changed)
}
