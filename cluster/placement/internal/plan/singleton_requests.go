package plan

import "fmt"

// start begins what StartSingleton asks for, or says that it is done.
func (s *singletons) start(in StartSingleton) {
	if err := in.Spec.Validate(); err != nil {
		s.answer(in.Token, nil, fmt.Errorf("%w: %w", ErrInvalid, err))
		return
	}
	label := in.Spec.Label
	if s.isSpec(label) {
		s.answer(in.Token, nil, fmt.Errorf("%w: %q is a spec; choose another label, or remove the spec", ErrExists, label))
		return
	}
	owner, err := in.Spec.Anchor.resolve(label, s.nodes.view(), s.cfg.Election, nil)
	x := s.all[label]
	switch {
	case x != nil && s.busy(x, owner.Name):
		s.answer(in.Token, nil, inProgress(label))
	case x != nil && x.asking != nil:
		x.requests = append(x.requests, in)
	case err != nil:
		s.answer(in.Token, nil, err)
	case x == nil:
		s.call(s.get(label), question{purpose: toStart, op: OpClaimTerm, owner: owner.Name, spec: in.Spec, token: in.Token})
	case x.moving():
		s.answer(in.Token, s.describe(x), nil)
	case x.grant.owner == owner.Name && s.phase(x) == SingletonActive:
		s.call(x, question{purpose: toRegrant, op: OpClaimSeq, owner: owner.Name, spec: in.Spec, token: in.Token})
	case x.grant.owner == owner.Name && x.spec.equal(in.Spec):
		s.answer(in.Token, s.describe(x), nil) // it is starting
	default:
		s.call(x, question{purpose: toStart, op: OpClaimTerm, owner: owner.Name, spec: in.Spec, token: in.Token})
	}
}

// busy reports whether x is being moved to another node than owner, or stopped, or what is
// left of one that was runs still.
func (s *singletons) busy(x *singleton, owner string) bool {
	return x.ending || x.asking.is(toStop) || x.moving() && x.next.owner != owner || !x.registered && x.asking == nil && s.occupied(x)
}

// move begins what MoveSingleton asks for. It is answered when the old instance is being
// stopped.
func (s *singletons) move(in MoveSingleton) {
	x, err := s.idle(in.Label)
	if err != nil {
		s.answer(in.Token, nil, err)
		return
	}
	if x.asking != nil {
		x.requests = append(x.requests, in)
		return
	}
	if x.grant.owner == "" {
		s.answer(in.Token, nil, fmt.Errorf("%w: %q starts as soon as its anchor %v allows", ErrNoOwner, in.Label, x.spec.Anchor))
		return
	}
	owner, err := x.spec.Anchor.resolve(in.Label, s.nodes.view(), s.cfg.Election, nil)
	switch {
	case err != nil:
		s.answer(in.Token, nil, err)
	case owner.Name == x.grant.owner:
		s.answer(in.Token, s.describe(x), nil)
	default:
		s.call(x, question{purpose: toMove, op: OpClaimTerm, owner: owner.Name, token: in.Token})
	}
}

// stop begins what StopSingleton asks for. It is answered when the instance has ended.
func (s *singletons) stop(in StopSingleton) {
	x, err := s.idle(in.Label)
	switch {
	case err != nil:
		s.answer(in.Token, nil, err)
	case x.asking != nil:
		x.requests = append(x.requests, in)
	default:
		s.call(x, question{purpose: toStop, op: OpForget, token: in.Token})
	}
}

// idle returns the singleton of that label, if it is not being moved or stopped.
func (s *singletons) idle(label string) (*singleton, error) {
	x := s.all[label]
	switch {
	case x == nil, !x.registered && !x.ending && x.asking == nil:
		return nil, fmt.Errorf("%w: there is no singleton %q", ErrNotFound, label)
	case x.ending, x.moving(), x.asking.is(toMove) && x.asking.token != 0, x.asking.is(toStop):
		return nil, inProgress(label)
	}
	return x, nil
}

func inProgress(label string) error {
	return fmt.Errorf("%w: singleton %q is being moved or stopped; try again when it has been", ErrInProgress, label)
}

// resume serves what has waited for an answer of the source.
func (s *singletons) resume(x *singleton) {
	waited := x.requests
	x.requests = nil
	for _, in := range waited {
		s.take(in)
	}
}

// answer tells who waits what has come of a request; nobody waits for token 0.
func (s *singletons) answer(to Token, value any, err error) {
	if to != 0 {
		s.nodes.reply(to, value, err)
	}
}
