package placement

import "fmt"

// start begins what StartSingleton asks for, or says that it is done.
func (s *singles) start(in startSingleton) {
	if err := in.spec.validate(); err != nil {
		s.answer(in.token, nil, fmt.Errorf("%w: %w", ErrInvalid, err))
		return
	}
	label := in.spec.Label
	if s.taken(label) {
		s.answer(in.token, nil, fmt.Errorf("%w: %q is a spec; choose another label, or remove the spec", ErrExists, label))
		return
	}
	owner, err := in.spec.Anchor.resolve(label, s.fleet.view(), s.cfg.election, nil)
	x := s.all[label]
	switch {
	case x != nil && s.busy(x, owner.Name):
		s.answer(in.token, nil, inProgress(label))
	case x != nil && x.asking != nil:
		x.requests = append(x.requests, in)
	case err != nil:
		s.answer(in.token, nil, err)
	case x == nil:
		s.ask(s.get(label), question{purpose: toStart, op: claimTerm, owner: owner.Name, spec: in.spec, token: in.token})
	case x.moving():
		s.answer(in.token, s.shown(x), nil)
	case x.grant.owner == owner.Name && s.phase(x) == SingletonActive:
		s.ask(x, question{purpose: toRegrant, op: claimSeq, owner: owner.Name, spec: in.spec, token: in.token})
	case x.grant.owner == owner.Name && x.spec.equal(in.spec):
		s.answer(in.token, s.shown(x), nil) // it is starting
	default:
		s.ask(x, question{purpose: toStart, op: claimTerm, owner: owner.Name, spec: in.spec, token: in.token})
	}
}

// busy reports whether x is being moved to another node than owner, or stopped, or what is
// left of one that was runs still.
func (s *singles) busy(x *single, owner string) bool {
	return x.ending || x.asking.is(toStop) || x.moving() && x.next.owner != owner || !x.registered && x.asking == nil && s.occupied(x)
}

// move begins what MoveSingleton asks for. It is answered when the old instance is being
// stopped.
func (s *singles) move(in moveSingleton) {
	x, err := s.idle(in.label)
	if err != nil {
		s.answer(in.token, nil, err)
		return
	}
	if x.asking != nil {
		x.requests = append(x.requests, in)
		return
	}
	if x.grant.owner == "" {
		s.answer(in.token, nil, fmt.Errorf("%w: %q starts as soon as its anchor %v allows", ErrNoOwner, in.label, x.spec.Anchor))
		return
	}
	owner, err := x.spec.Anchor.resolve(in.label, s.fleet.view(), s.cfg.election, nil)
	switch {
	case err != nil:
		s.answer(in.token, nil, err)
	case owner.Name == x.grant.owner:
		s.answer(in.token, s.shown(x), nil)
	default:
		s.ask(x, question{purpose: toMove, op: claimTerm, owner: owner.Name, token: in.token})
	}
}

// stop begins what StopSingleton asks for. It is answered when the instance has ended.
func (s *singles) stop(in stopSingleton) {
	x, err := s.idle(in.label)
	switch {
	case err != nil:
		s.answer(in.token, nil, err)
	case x.asking != nil:
		x.requests = append(x.requests, in)
	default:
		s.ask(x, question{purpose: toStop, op: forget, token: in.token})
	}
}

// idle returns the singleton of that label, if it is not being moved or stopped.
func (s *singles) idle(label string) (*single, error) {
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
func (s *singles) resume(x *single) {
	waited := x.requests
	x.requests = nil
	for _, in := range waited {
		s.take(in)
	}
}

// answer tells who waits what has come of a request; nobody waits for token 0.
func (s *singles) answer(to token, value any, err error) {
	if to != 0 {
		s.fleet.reply(to, value, err)
	}
}
