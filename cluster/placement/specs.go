package placement

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// specs is the workload that keeps the actor of each spec running on one node.
type specs struct {
	cfg         plannerConfig
	nodes       *home.Nodes
	isSingleton func(label string) bool

	all       items
	removals  map[string]*removal
	untouched bool // the journal was, when this coordinator began

	followers relation // from a label to the labels that are colocated with it
	avoiders  relation // from a label to the labels that avoid it

	nodeless map[string]bool // labels that are on no node
	changed  map[string]bool // labels whose record or state may have changed
	held     []home.Input    // requests that wait until enough is known to answer them

	inState       map[State]int
	moves         map[cause]uint64
	startFailures uint64
}

// An item is a spec and the state of its actor.
type item struct {
	Spec
	data     []byte // the spec, encoded
	stage    stage
	on       home.NodeID // the node of the actor, also while it waits for that node's return
	request  home.RequestID
	until    time.Time // while it waits
	drained  bool      // a former coordinator was draining the node
	decision Decision

	startedAt time.Time // when it was reported to run; zero if it has not been
	failures  int       // since it last ran for RetryMax
	retryAt   time.Time // it is not started before
	failedOn  []string  // names of nodes, since then
	lastError string

	state State
	since time.Time // of state
}

// items are the specs by label.
type items map[string]*item

// A stage is what the planner is doing with an item.
type stage uint8

const (
	unplaced stage = iota
	placed         // runs, or has been requested
	leaving        // is being stopped in order to be placed again
	waiting        // for its node to return
)

// A removal is a label whose actors are being stopped for good.
type removal struct {
	record *home.Record // in the journal, so that the next coordinator stops it, too
	tokens []home.Token
	next   []submit // that wait for the label
}

func newSpecs(cfg plannerConfig, f *home.Nodes, taken func(label string) bool) *specs {
	return &specs{
		cfg: cfg, nodes: f, isSingleton: taken,
		all: items{}, removals: map[string]*removal{},
		followers: relation{}, avoiders: relation{},
		nodeless: map[string]bool{}, changed: map[string]bool{},
		inState: map[State]int{}, moves: map[cause]uint64{},
	}
}

func (s *specs) Handle(in home.Input) {
	switch in := in.(type) {
	case home.Recovered:
		s.begin()
	case submit, remove:
		s.held = append(s.held, in)
		s.nodes.Waits(tokenOf(in), home.Unsettled)
	case withdrawn:
		if label, is := strings.CutPrefix(in.fact.Key, ofSpec); is {
			withdraw(s, label)
		}
	}
}

// Serve serves the held requests.
func (s *specs) Serve() {
	held := s.held
	s.held = nil
	for _, in := range held {
		switch in := in.(type) {
		case submit:
			if awaitsNode(s, &in) {
				s.held = append(s.held, in)
			} else {
				s.submit(in)
			}
		case remove:
			s.remove(in)
		}
	}
}

// submit places a spec, and adds it if that succeeds.
func (s *specs) submit(in submit) {
	label := in.Spec.Label
	if err := s.check(in.Spec); err != nil {
		s.nodes.Reply(in.Token, nil, err)
		return
	}
	if s.removals[label] == nil && len(s.nodes.PlacesOf(label)) > 0 {
		s.stop(label, &removal{}) // it may be an actor that was left alone
	}
	if r := s.removals[label]; r != nil {
		r.next = append(r.next, in)
		s.explainRemoval(label, r)
		return
	}
	d, err := s.choose(in.Spec)
	if err != nil {
		s.nodes.Reply(in.Token, nil, err)
		return
	}
	it := &item{Spec: in.Spec, data: home.Encode(in.Spec)}
	s.add(it)
	s.start(it, d)
	s.nodes.Reply(in.Token, d, nil)
}

func (s *specs) check(spec Spec) error {
	err := spec.Validate()
	if err == nil {
		err = s.all.checkCycle(spec)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	case s.all[spec.Label] != nil:
		return fmt.Errorf("%w: %q; remove it first, or choose another label", ErrExists, spec.Label)
	case s.isSingleton(spec.Label):
		return fmt.Errorf("%w: %q is a singleton; choose another label", ErrExists, spec.Label)
	}
	return nil
}

// checkCycle returns an error if spec would be colocated with itself through others.
func (all items) checkCycle(spec Spec) error {
	for label := spec.Constraints.ColocateWith; label != ""; {
		if label == spec.Label {
			return badField("Spec.Constraints.ColocateWith", "spec %q is colocated with itself by way of %q", label, spec.Constraints.ColocateWith)
		}
		target := all[label]
		if target == nil {
			return nil
		}
		label = target.Constraints.ColocateWith
	}
	return nil
}

// remove removes a spec, stops its actor, and replies when that has terminated.
func (s *specs) remove(in remove) {
	if r := s.removals[in.Label]; r != nil {
		r.tokens = append(r.tokens, in.Token)
		s.explainRemoval(in.Label, r)
		return
	}
	it := s.all[in.Label]
	if it == nil {
		s.nodes.Reply(in.Token, nil, fmt.Errorf("%w: %q", ErrNotFound, in.Label))
		return
	}
	r := &removal{tokens: []home.Token{in.Token}}
	if !it.request.IsZero() {
		r.record = &home.Record{Node: it.on.Name, Incarnation: it.on.Incarnation, Request: it.request, Ended: true}
	}
	s.forget(in.Label)
	s.stop(in.Label, r)
}

// withdraw removes a spec that the journal rejects, before anything was requested.
func withdraw(s *specs, label string) {
	if it := s.all[label]; it != nil {
		s.forget(label)
		s.nodes.Forget(it.on, label)
	}
}

// stop requests the stop of every actor of a label.
func (s *specs) stop(label string, r *removal) {
	s.removals[label] = r
	for _, p := range s.nodes.PlacesOf(label) {
		s.nodes.Stop(p.On, label, "")
	}
	s.touch(label)
}

// finish ends a removal when no actor of the label is left.
func (s *specs) finish(label string, r *removal) {
	if len(s.nodes.PlacesOf(label)) > 0 {
		s.explainRemoval(label, r)
		return
	}
	delete(s.removals, label)
	s.changed[label] = true
	for _, to := range r.tokens {
		s.nodes.Reply(to, nil, nil)
	}
	for _, in := range r.next {
		s.submit(in)
	}
}

// explainRemoval says why the requests that wait for the end of a removal do.
func (s *specs) explainRemoval(label string, r *removal) {
	why := s.nodes.Awaited(label)
	for _, to := range r.tokens {
		s.nodes.Waits(to, why)
	}
	for _, in := range r.next {
		s.nodes.Waits(in.Token, why)
	}
}

// replay continues from a record of the journal.
func (s *specs) replay(label string, r home.Record) {
	if r.Ended {
		s.removals[label] = &removal{record: &r}
		return
	}
	it := &item{Spec: home.Decode[Spec](r.Spec), data: r.Spec, on: r.On(), request: r.Request, until: r.Until, drained: r.Drained}
	switch {
	case !r.Request.IsZero():
		it.stage = placed
	case !r.Until.IsZero():
		it.stage = waiting
	}
	s.add(it)
}

// begin continues from what has been replayed.
func (s *specs) begin() {
	for _, label := range slices.Sorted(maps.Keys(s.all)) {
		it := s.all[label]
		switch it.stage {
		case placed:
			s.nodes.StartBeside(it.on, it.Constraints.ColocateWith, it.startRequest())
		case waiting:
			s.nodes.Wake(label, it.until)
		case unplaced, leaving:
		}
	}
	for _, label := range slices.Sorted(maps.Keys(s.removals)) {
		r := s.removals[label]
		s.nodes.Start(r.record.On(), home.StartRequest{ID: r.record.Request, Label: label})
		s.stop(label, r)
	}
}

func (s *specs) add(it *item) {
	s.all[it.Label] = it
	s.followers.add(it.Constraints.ColocateWith, it.Label)
	for _, avoided := range it.Constraints.AntiAffinity {
		s.avoiders.add(avoided, it.Label)
	}
	s.enter(it, it.stage)
}

func (s *specs) forget(label string) {
	it := s.all[label]
	if it.state != "" {
		s.inState[it.state]--
	}
	delete(s.all, label)
	delete(s.nodeless, label)
	s.nodes.GiveUp(label)
	s.followers.remove(it.Constraints.ColocateWith, label)
	for _, avoided := range it.Constraints.AntiAffinity {
		s.avoiders.remove(avoided, label)
	}
	s.changed[label] = true
}

// enter moves an item to another stage.
func (s *specs) enter(it *item, next stage) {
	it.stage = next
	delete(s.nodeless, it.Label)
	if next == unplaced || next == waiting {
		s.nodeless[it.Label] = true
	}
	if next == unplaced {
		it.on, it.request, it.drained = home.NodeID{}, home.RequestID{}, false
	}
	if next != waiting {
		it.until = time.Time{}
	}
	s.touch(it.Label)
}

func (s *specs) touch(label string) {
	s.changed[label] = true
	s.nodes.Touch(label)
}

func (s *specs) Owns(label string) bool { return s.all[label] != nil || s.removals[label] != nil }

// itemOf returns the item that a request belongs to, or nil.
func (s *specs) itemOf(label string, id home.RequestID) *item {
	if it := s.all[label]; it != nil && it.request == id && (it.stage == placed || it.stage == leaving) {
		return it
	}
	return nil
}

func (s *specs) Told(o home.Outcome) {
	it := s.itemOf(o.Label, o.ID)
	switch {
	case it == nil:
	case o.What == home.Runs:
		it.startedAt, it.lastError = s.nodes.Now(), ""
		s.touch(o.Label)
	case o.What == home.Failed:
		s.startFailures++
		s.retry(it, o.On, o.Why.Text)
	case o.What == home.Quit:
		if !it.startedAt.IsZero() && s.nodes.Now().Sub(it.startedAt) >= s.cfg.RetryMax {
			it.failures, it.failedOn = 0, nil
		}
		s.moves[endedAlone]++
		s.retry(it, o.On, cmp.Or(o.Why.Text, home.StoppedItself))
	case o.What == home.Stopped && it.stage == leaving:
		s.enter(it, unplaced)
	case o.What == home.Refused:
		s.enter(it, placed)
	}
}

func (s *specs) Leaving(home.NodeID) bool { return false }

// Unwanted: no spec is adopted from an agent, because the journal has all of them. Only a
// coordinator with another journal can have started an actor before this one was first written to:
// it is left alone.
func (s *specs) Unwanted(label string) bool {
	foreign := func(p home.Place) bool { return p.Request.ID.Epoch < s.cfg.Epoch }
	return !s.isSingleton(label) &&
		(!s.untouched || s.Owns(label) || !slices.ContainsFunc(s.nodes.PlacesOf(label), foreign))
}

// retry places an item that has failed again after a delay.
func (s *specs) retry(it *item, on home.NodeID, why string) {
	it.failures++
	it.lastError = why
	if !on.IsZero() && !slices.Contains(it.failedOn, on.Name) {
		it.failedOn = append(it.failedOn, on.Name)
	}
	s.enter(it, unplaced)
	it.retryAt = s.nodes.Now().Add(s.cfg.Delay(it.failures))
	s.nodes.Wake(it.Label, it.retryAt)
}

// Lost applies the crash strategies of the actors on a lost node.
func (s *specs) Lost(on home.NodeID) {
	for _, label := range slices.Sorted(maps.Keys(s.all)) {
		it := s.all[label]
		if it.on != on {
			continue
		}
		drained := it.drained || s.nodes.Draining(on)
		switch {
		case it.stage == leaving:
			s.enter(it, unplaced)
		case it.stage == placed && it.OnCrash.Kind == KindAbandon:
			s.forget(label)
		case it.stage == placed && it.OnCrash.Kind == KindWaitForReturn && !drained:
			s.moves[nodeLost]++
			s.wait(it)
		case it.stage == placed:
			s.moves[nodeLost]++
			s.enter(it, unplaced)
		}
	}
}

func (s *specs) wait(it *item) {
	s.enter(it, waiting)
	it.request = home.RequestID{}
	it.until = s.nodes.Now().Add(it.OnCrash.Wait)
	s.nodes.Wake(it.Label, it.until)
}

// choose returns the node for a spec. It considers the labels that the spec avoids, and the labels
// that avoid it. It chooses a node in avoid only if there is no other.
func (s *specs) choose(spec Spec, avoid ...string) (Decision, error) {
	return choose(spec, s.nodes.View(), s.beside(spec), s.cfg.Strategy, avoid...)
}

// readyWait is how long a submission waits for a node that has not said yet that it takes part:
// placement may just have been started there.
const readyWait = 5 * time.Second

// awaitsNode reports whether a submission would succeed if all members were ready, and waits for
// that.
func awaitsNode(s *specs, in *submit) bool {
	if s.check(in.Spec) != nil || s.removals[in.Spec.Label] != nil {
		return false
	}
	if _, err := s.choose(in.Spec); !errors.Is(err, ErrNoEligibleNodes) {
		return false
	}
	v := home.View{Nodes: slices.Clone(s.nodes.View().Nodes)}
	for i := range v.Nodes {
		v.Nodes[i].Ready = true
	}
	if _, err := choose(in.Spec, v, s.beside(in.Spec), s.cfg.Strategy); err != nil {
		return false
	}
	if in.until.IsZero() {
		in.until = s.nodes.Now().Add(readyWait)
	}
	s.nodes.Waits(in.Token, "a member that could run it has not started placement yet")
	return s.nodes.Now().Before(in.until)
}

func (s *specs) beside(spec Spec) []string {
	return append(slices.Clone(spec.Constraints.AntiAffinity), s.avoiders.of(spec.Label)...)
}

func isStrategyError(err error) bool { return errors.Is(err, ErrStrategy) }

func (it *item) startRequest() home.StartRequest {
	return home.StartRequest{ID: it.request, Label: it.Label, Type: it.Type, State: it.State}
}

// A relation maps labels to labels.
type relation map[string]map[string]bool

func (r relation) add(from, to string) {
	if from == "" {
		return
	}
	if r[from] == nil {
		r[from] = map[string]bool{}
	}
	r[from][to] = true
}

func (r relation) remove(from, to string) {
	delete(r[from], to)
	if len(r[from]) == 0 {
		delete(r, from)
	}
}

func (r relation) of(from string) []string { return slices.Sorted(maps.Keys(r[from])) }
